//! Calls to peers, and the errors about peers that do not join.

use std::io;
use std::sync::Arc;

use super::reception::{dismiss, hear_greeting};
use super::shared::*;
use crate::platform::spawn;
use crate::platform::time::{Instant, sleep, timeout, timeout_at};
use crate::transport::{Connection, Memory, copied, is_final};
use crate::wire::{Answer, Hello, RouteId, hear, say};
use crate::{Address, NetError, Refusal};

impl Slot {
    /// Marks a peer that has not come as dialled. Returns false if the peer has come.
    fn dial(&mut self) -> bool {
        let is_free = self.peer.token().is_none();
        if is_free {
            self.peer = SlotPeer::Dialled;
        }
        is_free
    }

    /// Notes the result of a call. Returns false if the peer is to be called again, and sets `last`
    /// to the reason.
    fn dialled(
        &mut self,
        greeted: Option<Result<Greeted, NetError>>,
        last: &mut Option<Arc<io::Error>>,
    ) -> bool {
        // The peer has come by itself in the meantime.
        if self.peer.token().is_some() {
            return true;
        }
        self.peer = SlotPeer::Absent;
        match greeted {
            Some(Ok(Greeted::Welcome(connection, hello))) => {
                self.peer = SlotPeer::Remote(hello.lane.own);
                self.arrive(Arrival::Remote(connection, hello, Call::Own));
            }
            // `greet` follows offers, and only an end that knows the peer is told of a move.
            Some(Ok(Greeted::Moved(_) | Greeted::Offers(_))) | None => return false,
            Some(Err(NetError::Absent { last: why, .. })) => {
                *last = why;
                return false;
            }
            Some(Err(error)) => self.arrive(Arrival::Failed(error)),
        }
        true
    }

    /// Notes that the peer has called for a session, perhaps an earlier one of this name.
    pub(super) fn called_for(&mut self, session: &str) {
        self.failed_call = Some(if *self.hello.route.session == *session {
            ", but has called for a session of this name that ended with the previous process"
                .to_owned()
        } else {
            format!(", and has called for the session `{session}`")
        });
    }

    /// Notes that the peer, or a stranger in its name, was refused.
    pub(super) fn refused(&mut self, refusal: &Refusal) {
        // A stranger may send a long text.
        let why: String = refusal.to_string().chars().take(1_000).collect();
        self.failed_call = Some(format!(", and an end that called for it does not fit: {why}"));
    }
}

impl Shared {
    /// Calls a peer until it answers, or has come by itself.
    pub(crate) async fn call(self: Arc<Self>, own: Arc<Hello>, to: Vec<Address>, until: Instant) {
        let (mut pause, mut last) = (FIRST_PAUSE, None);
        loop {
            for address in &to {
                if self.with_slot(&own, Slot::dial) != Some(true) {
                    return;
                }
                let greeted = timeout_at(until, self.greet(address, &own)).await.ok();
                let is_done = self.with_slot(&own, |slot| slot.dialled(greeted, &mut last));
                self.changed.notify_waiters();
                if is_done != Some(false) {
                    return;
                }
            }
            if timeout_at(until, sleep(pause)).await.is_err() {
                let absent = self.absent(&own, &to, last);
                self.with_slot(&own, |slot| slot.arrive(Arrival::Failed(absent)));
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Calls a peer once, at this address. Fails with [`Absent`](NetError::Absent) if another call
    /// may succeed.
    pub(super) async fn greet_at(
        self: &Arc<Self>,
        address: &Address,
        own: &Hello,
    ) -> Result<Greeted, NetError> {
        self.transports.of(address)?;
        let greeted = timeout(self.limits.handshake, self.exchange(address, own)).await;
        let greeted = greeted.unwrap_or_else(|_| {
            let text = format!(
                "no answer came within {:?}: the host there may be out of files, or overloaded",
                self.limits.handshake
            );
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        });
        let absent = |error| self.absent(own, &[], Some(Arc::new(error)));
        let (mut connection, answer) = match greeted {
            Err(error) if is_final(&error) => {
                let (address, source) = (address.clone(), Arc::new(error));
                return Err(NetError::Call { address, source });
            }
            greeted => greeted.map_err(absent)?,
        };
        let (protocol, peer) = (&own.route.protocol, &own.route.peer);
        let refusal = match answer {
            // The role may join there a moment later.
            Answer::Refused(later @ (Refusal::Unknown | Refusal::Full))
                if own.lane.known.is_none() =>
            {
                return Err(absent(io::Error::other(later)));
            }
            Answer::Refused(refusal) => refusal,
            _ if !connection.may_play(protocol, peer) => Refusal::Certificate,
            Answer::Welcome(contract, format, lane, transports) => {
                let RouteId { protocol, session, role: peer, peer: role } = (*own.route).clone();
                let route = RouteId { protocol, session, role, peer }.into();
                let hello = Box::new(Hello { route, contract, format, lane, transports });
                let Err(refusal) = own.fits(&hello).await else {
                    let of_scheme = |at: Address| Address::new(address.scheme(), at.place());
                    let at = connection.at.take().map_or_else(|| address.clone(), of_scheme);
                    connection.at = Some(at);
                    return Ok(Greeted::Welcome(connection, hello));
                };
                refusal
            }
            Answer::Moved(to) => {
                // Confirms the address. Otherwise the host would expect another call.
                spawn(dismiss(connection, Answer::Moved(to.clone()), true));
                return Ok(Greeted::Moved(to));
            }
            Answer::Offers(at) => return Ok(Greeted::Offers(at)),
        };
        Err(NetError::Refused { peer: peer.to_string(), refusal })
    }

    /// Connects to an address, and returns the answer of the host there to a greeting.
    async fn exchange(
        self: &Arc<Self>,
        address: &Address,
        own: &Hello,
    ) -> io::Result<(Box<Connection>, Answer)> {
        let frame = self.limits.frame;
        // A peer on this host, after a move or on demand, needs no transport.
        let mut connection = Box::new(if self.hello_to(own).is_some() {
            let [near, far] = Memory::pair(frame);
            let shared = Arc::clone(self);
            spawn(async move {
                if let Ok((far, hello)) = hear_greeting(Box::pin(async { Ok(far) })).await {
                    shared.welcome(far, hello, None, true).await;
                }
            });
            if own.lane.known.is_some() && !self.listens().contains(address) {
                spawn(Arc::clone(self).know_move(address.clone(), own.clone()));
            }
            near
        } else if let Some(stream) = self.stream(address).await {
            stream
        } else {
            // In a task: others wait for the connection, even if nothing polls this role.
            let connected = Arc::clone(self).connect(address.clone());
            spawn(timeout(self.limits.handshake, connected)).await?.map_err(io::Error::other)??
        });
        let answer = async {
            say(&mut connection, own).await?;
            hear(&mut connection).await
        };
        let answer = answer.await.inspect_err(|_| {
            // The host there accepts no more streams, or the connection has ended.
            let line = lock(&self.lines).get(address).cloned();
            if let Some(Ok(mut line)) = line.as_ref().map(|line| line.try_lock())
                && matches!(&*line, Line::Shared(streams) if streams.has(&connection))
            {
                *line = Line::Absent;
            }
        })?;
        Ok((connection, answer.unwrap_or(Answer::Refused(Refusal::NoGreeting))))
    }

    /// Lets the host that a peer has left for this host know that the peer was found. It
    /// [waits](crate::Host::told) for that.
    async fn know_move(self: Arc<Self>, address: Address, own: Hello) {
        let asked = async {
            let mut connection = Box::new(Arc::clone(&self).connect(address).await?);
            say(&mut connection, &own).await?;
            if let Some(answer @ Answer::Moved(_)) = hear(&mut connection).await? {
                dismiss(connection, answer, true).await;
            }
            io::Result::Ok(())
        };
        // If this fails, the host is gone, or waits until the time is over.
        let _ = timeout(self.limits.handshake, asked).await;
    }

    /// A stream of the connection to an address, if there is one.
    async fn stream(&self, address: &Address) -> Option<Connection> {
        let line = lock(&self.lines).get(address).cloned()?;
        let line = line.try_lock().ok()?;
        let Line::Shared(streams) = &*line else { return None };
        streams.open().await.ok()
    }

    /// A connection to an address: a stream of one that is there, or else a new one. Calls at the
    /// same time share it, or its failure.
    async fn connect(self: Arc<Self>, address: Address) -> io::Result<Connection> {
        let (began, frame) = (Instant::now(), self.limits.frame);
        let transport = self.transports.of(&address).map_err(io::Error::other)?;
        let line = {
            let mut lines = lock(&self.lines);
            if !lines.contains_key(&address) {
                // Those that are in use, or may be.
                lines.retain(|_, line| match line.try_lock().as_deref() {
                    Ok(Line::Shared(streams)) => streams.is_open(),
                    Ok(_) => Arc::strong_count(line) > 1,
                    Err(_) => true,
                });
            }
            Arc::clone(lines.entry(address.clone()).or_default())
        };
        let mut line = line.lock().await;
        match &*line {
            Line::Single => {
                drop(line);
                return transport.connect(address.place(), frame).await;
            }
            Line::Shared(streams) => {
                if let Ok(stream) = streams.open().await {
                    return Ok(stream);
                }
            }
            Line::Failed(at, error) if *at >= began => return Err(copied(error)),
            Line::Absent | Line::Failed(..) => {}
        }
        // If this takes too long, another call tries.
        *line = Line::Absent;
        match transport.connect(address.place(), frame).await {
            Ok(mut connection) => {
                connection.keep(self.limits.beat);
                *line = connection.take_streams().map_or(Line::Single, Line::Shared);
                Ok(connection)
            }
            Err(error) => {
                let error = Arc::new(error);
                *line = Line::Failed(Instant::now(), Arc::clone(&error));
                Err(copied(&error))
            }
        }
    }

    /// The error of a role whose peer has not joined, and was called at these addresses.
    pub(crate) fn absent(
        &self,
        own: &Hello,
        called: &[Address],
        last: Option<Arc<io::Error>>,
    ) -> NetError {
        let listed = |addresses: &[Address], between: &str| {
            addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
        };
        let (waited, listens) = (self.limits.join, listed(&self.listens(), " or "));
        let no_way = "no address of it was given, and this host does not listen";
        let mut how = if !called.is_empty() {
            format!("and called {} for {waited:?}", listed(called, " and "))
        } else if !listens.is_empty() {
            format!(
                "which has neither called {listens} nor joined it on this host within {waited:?}"
            )
        } else if self.cuts_off(own) {
            format!("which plays on another host: {no_way}")
        } else {
            format!(
                "which has not joined it on this host within {waited:?}: {no_way}; roles at one host have to connect at \
                 once (`tokio::try_join!`)"
            )
        };
        how += &self.with_slot(own, |slot| slot.failed_call.clone()).flatten().unwrap_or_default();
        let RouteId { role, peer, session, .. } = &*own.route;
        let [role, peer, session] = [role, peer, session].map(ToString::to_string);
        NetError::Absent { role, peer, session, how, last }
    }

    /// Returns true if neither end can call the other: the host does not listen, and a peer without
    /// an address plays on another host.
    pub(crate) fn cuts_off(&self, own: &Hello) -> bool {
        let RouteId { protocol, session, peer, .. } = &*own.route;
        let is_elsewhere = |slot: &mut Slot| matches!(slot.peer, SlotPeer::Remote(_));
        let mut registry = lock(&self.registry);
        let roles = registry.roles.range_mut((session.clone(), protocol.clone(), "".into())..);
        let mut roles = roles.take_while(|(at, _)| (&at.0, &at.1) == (session, protocol));
        lock(&self.listened).is_empty()
            && roles.any(|(_, slots)| slot_of(slots, peer).is_some_and(is_elsewhere))
    }

    /// Notes the failed call of a peer, if a role waits for the peer in other sessions.
    pub(super) fn call_failed(&self, hello: &Hello) {
        let RouteId { protocol, session, role, peer } = &*hello.route;
        for (endpoint, slots) in &mut lock(&self.registry).roles {
            if (&endpoint.1, &endpoint.2) == (protocol, peer)
                && let Some(slot) = slot_of(slots, role)
            {
                slot.called_for(session);
            }
        }
    }
}
