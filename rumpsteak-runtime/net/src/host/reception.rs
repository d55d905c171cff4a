//! Incoming connections, and the answers to their greetings.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::shared::*;
use crate::platform::spawn;
use crate::platform::time::{Instant, timeout, timeout_at};
use crate::transport::{Connection, Opening};
use crate::wire::{Answer, Hello, hear, say};
use crate::{NetError, Refusal};

impl Shared {
    /// Receives the greeting of a connection, and answers it, in a task.
    pub(super) fn admit(self: &Arc<Self>, caller: Option<IpAddr>, opening: Opening, at: Listened) {
        let (shared, limit) = (Arc::clone(self), self.limits.handshake);
        let mut hears = Box::pin(hear_greeting(opening));
        // A stream of a shared connection comes with its greeting.
        match hears.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(heard) => {
                let _ = heard.map(|heard| self.greeted(caller, heard, at));
            }
            Poll::Pending => {
                let hears = spawn(async move {
                    if let Ok(Ok(heard)) = timeout(MOMENT.min(limit), hears).await {
                        shared.greeted(caller, heard, at);
                    }
                });
                lock(&self.gate).admit(caller, hears.abort_handle(), &self.limits);
            }
        }
    }

    /// Answers a greeting in a task, and accepts the further streams of its connection in another.
    fn greeted(
        self: &Arc<Self>,
        caller: Option<IpAddr>,
        (mut connection, hello): (Box<Connection>, Box<Hello>),
        at: Listened,
    ) {
        connection.caller = caller;
        connection.scheme = Some(Arc::clone(&at.address.scheme));
        let (shared, streams) = (Arc::clone(self), connection.take_streams());
        let further = at.clone();
        // A large future is moved several times before it runs.
        spawn(Box::pin(async move {
            // A peer that resumes needs no permit. A new peer may call again.
            let place = shared.handshakes.try_acquire().ok();
            if place.is_some() || hello.lane.known.is_some() {
                shared.welcome(connection, hello, Some(at), place.is_some()).await;
            } else {
                let (address, limit) = (at.address, shared.limits.connections);
                shared.tell(NetError::Full { address, limit });
                Box::pin(dismiss(connection, Answer::Refused(Refusal::Full), false)).await;
            }
        }));
        if let Some(streams) = streams
            && let Some(listening) = further.listening.upgrade()
        {
            let shared = Arc::clone(self);
            let mut listening = lock(&listening);
            while listening.try_join_next().is_some() {}
            listening.spawn(async move {
                while let Ok(stream) = streams.accept().await {
                    shared.admit(caller, Box::pin(async { Ok(stream) }), further.clone());
                }
            });
        }
    }

    /// Answers a greeting, once the answer is known. If the host is not patient, it does not wait
    /// until a refused caller has closed the connection.
    pub(super) async fn welcome(
        &self,
        mut connection: Box<Connection>,
        hello: Box<Hello>,
        at: Option<Listened>,
        is_patient: bool,
    ) {
        let (mut is_compared, until) = (false, Instant::now() + self.limits.handshake / 2);
        let answer = loop {
            if !hello.has_short_names() {
                break Answer::Refused(Refusal::Name);
            }
            if !connection.may_play(&hello.route.protocol, &hello.route.role) {
                break Answer::Refused(Refusal::Certificate);
            }
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let own = self.hello_to(&hello);
            if let Some(elsewhere) =
                at.as_ref().and_then(|at| self.elsewhere(at, &hello, own.as_deref()))
            {
                break elsewhere;
            }
            if !is_compared && let Some(own) = own.filter(|own| hello.knows(own)) {
                if let Err(refusal) = own.fits(&hello).await {
                    self.with_slot(&own, |slot| slot.refused(&refusal));
                    break Answer::Refused(refusal);
                }
                is_compared = true;
            }
            match self.receive(&hello, is_compared) {
                // The caller gets an answer before its own timeout, and calls again.
                Poll::Pending if timeout_at(until, changed).await.is_ok() => {}
                Poll::Pending => {
                    self.call_failed(&hello);
                    break Answer::Refused(Refusal::Unknown);
                }
                Poll::Ready(Err(answer)) => break answer,
                Poll::Ready(Ok((own, to))) => {
                    connection.keep(self.limits.beat);
                    let call = if own.is_some() { Call::Theirs } else { Call::Again };
                    if let Some(own) = own {
                        // If this fails, the peer calls again.
                        let welcome = own.welcome();
                        let said = say(&mut connection, &welcome);
                        let _ = timeout(self.limits.handshake, said).await;
                    }
                    let _ = to.unbounded_send(Box::new(Arrival::Remote(connection, hello, call)));
                    return;
                }
            }
        };
        let said = Box::pin(dismiss(connection, answer.clone(), is_patient)).await;
        if matches!(answer, Answer::Moved(_))
            && let Some(moved) = lock(&self.registry).moved.get_mut(&hello.route.far())
        {
            let again = LONGEST_PAUSE + self.limits.handshake;
            // If the peer did not get the answer, it calls again by then.
            let asks = Instant::now() + if said == Some(answer) { Duration::ZERO } else { again };
            moved.asks.insert(hello.route.role.clone(), asks.min(moved.until));
        }
        self.changed.notify_waiters();
    }

    /// Accepts a peer or dismisses it. Pending if the role is not here yet, or is calling the peer.
    fn receive(&self, hello: &Hello, is_compared: bool) -> Poll<Result<Accepted, Answer>> {
        let mut registry = lock(&self.registry);
        let (endpoint, peer, lane) = (hello.route.far(), &hello.route.role, &hello.lane);
        let refuse = |refusal| Poll::Ready(Err(Answer::Refused(refusal)));
        let Some(slots) = registry.roles.get_mut(&endpoint) else {
            if lane.known.is_some() {
                let tokens = [lane.known, Some(lane.own)];
                let is_told = |moved: &&Moved| {
                    moved.until > Instant::now() && moved.tokens.get(peer) == Some(&tokens)
                };
                let moved = registry.moved.get(&endpoint).filter(is_told);
                let moved = moved.map(|moved| Poll::Ready(Err(Answer::Moved(moved.to.clone()))));
                return moved.unwrap_or(refuse(Refusal::Gone));
            }
            registry.announce(endpoint, &self.limits);
            return Poll::Pending;
        };
        let Some(slot) = slot_of(slots, peer) else { return refuse(Refusal::Unknown) };
        if !hello.knows(&slot.hello) {
            slot.called_for(&hello.route.session);
            return refuse(Refusal::StartedAgain);
        }
        if !is_compared {
            // The role has joined in the meantime: compare the greetings first.
            self.changed.notify_waiters();
            return Poll::Pending;
        }
        match &slot.peer {
            SlotPeer::Absent | SlotPeer::Dialled if lane.known.is_some() => refuse(Refusal::Gone),
            // If both ends call each other, one of them waits.
            SlotPeer::Dialled if slot.hello.route.role < *peer => Poll::Pending,
            SlotPeer::Absent | SlotPeer::Dialled => {
                slot.peer = SlotPeer::Remote(lane.own);
                Poll::Ready(Ok((Some(slot.hello.clone()), slot.arrivals.clone())))
            }
            has_come if has_come.token() == Some(lane.own) => {
                Poll::Ready(Ok((None, slot.arrivals.clone())))
            }
            // The role is about to leave, too, and the next session of this name to begin.
            _ if slot.has_left && lane.known.is_none() => Poll::Pending,
            _ => refuse(Refusal::Taken),
        }
    }
}

/// The welcome, if this is the first connection of the peer, and its slot.
type Accepted = (Option<Arc<Hello>>, Arrives);

/// Receives the greeting of a connection. Refuses a caller that sends something else.
pub(super) async fn hear_greeting(opening: Opening) -> io::Result<(Box<Connection>, Box<Hello>)> {
    let mut connection = Box::new(opening.await?);
    if let Some(hello) = hear(&mut connection).await? {
        return Ok((connection, hello));
    }
    Box::pin(dismiss(connection, Answer::Refused(Refusal::NoGreeting), true)).await;
    Err(io::ErrorKind::InvalidData.into())
}

/// Answers a caller, and closes the connection. A patient end waits for a moment until the caller
/// replies or closes first: over some transports, the answer is lost if this end closes first.
pub(crate) async fn dismiss(
    mut connection: Box<Connection>,
    answer: Answer,
    is_patient: bool,
) -> Option<Answer> {
    let said = async {
        say(&mut connection, &answer).await.ok()?;
        if is_patient { hear(&mut connection).await.ok()? } else { None }
    };
    timeout(MOMENT, said).await.ok()?
}
