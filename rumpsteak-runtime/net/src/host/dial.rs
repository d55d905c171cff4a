//! Calls to peers.

use std::io;
use std::sync::Arc;

use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{
    Arrival, Call, FIRST_PAUSE, Greeted, LONGEST_PAUSE, Shared, Slot, SlotPeer, dismiss,
    hear_greeting,
};
use crate::transport::{Connection, Memory, Transport, is_final};
use crate::wire::{Answer, Hello, hear, say};
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

    /// Notes the result of a call. Returns false if the peer is to be called again, and why the
    /// call was in vain.
    fn dialled(
        &mut self,
        greeted: Option<Result<Greeted, NetError>>,
        last: &mut Option<Arc<io::Error>>,
    ) -> bool {
        // A peer that has come by itself replaces the peer that was called.
        if self.peer.token().is_some() {
            return true;
        }
        self.peer = SlotPeer::Absent;
        match greeted {
            Some(Ok(Greeted::Welcome(connection, hello))) => {
                self.peer = SlotPeer::Remote(hello.lane.own);
                self.arrive(Arrival::Remote(connection, hello, Call::Own));
            }
            // A host tells a move only to an end that knows the peer, and `greet` follows offers.
            Some(Ok(Greeted::Moved(_) | Greeted::Offers(_))) | None => return false,
            Some(Err(NetError::Absent { last: why, .. })) => {
                *last = why;
                return false;
            }
            Some(Err(error)) => self.arrive(Arrival::Failed(error)),
        }
        true
    }
}

impl Shared {
    /// Calls a peer until it answers, or has come by itself.
    pub(crate) async fn call(self: Arc<Self>, own: Hello, addresses: Vec<Address>, until: Instant) {
        let (mut pause, mut last) = (FIRST_PAUSE, None);
        loop {
            for address in &addresses {
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
                let absent = self.absent(&own, &addresses, last);
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
        let transport = self.transports.of(address)?;
        let exchange = self.exchange(transport, address, own);
        let greeted = timeout(self.limits.handshake, exchange).await;
        let greeted = greeted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
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
            Answer::Welcome(hello) if !hello.route.is_back_of(&own.route) => Refusal::Unknown,
            Answer::Welcome(_) | Answer::Moved(_) | Answer::Offers(_)
                if !connection.may_play(protocol, peer) =>
            {
                Refusal::Certificate
            }
            Answer::Welcome(hello) => match own.fits(&hello).await {
                Ok(()) => {
                    let home = connection.home.take();
                    let home = home.as_deref().unwrap_or(address.place());
                    connection.at = Some(Address::new(address.scheme(), home));
                    return Ok(Greeted::Welcome(connection, Box::new(hello)));
                }
                Err(refusal) => refusal,
            },
            Answer::Moved(to) => {
                // The host that was left waits for word that this end has heard it. It may be
                // impatient, or the connection break: then it believes that this end has not.
                tokio::spawn(dismiss(connection, Answer::Moved(to.clone()), true));
                return Ok(Greeted::Moved(to));
            }
            Answer::Offers(at) => return Ok(Greeted::Offers(at)),
            // The host may know it a moment later.
            Answer::Refused(Refusal::Unknown) if own.lane.known.is_none() => {
                return Err(absent(io::Error::other(Refusal::Unknown.to_string())));
            }
            Answer::Refused(refusal) => refusal,
        };
        Err(NetError::Refused { peer: peer.clone(), refusal })
    }

    /// Connects to an address, and returns what the host there answers to a greeting.
    async fn exchange(
        self: &Arc<Self>,
        transport: &dyn Transport,
        address: &Address,
        own: &Hello,
    ) -> io::Result<(Connection, Answer)> {
        let frame = self.limits.frame;
        // A peer that has moved to this host, or plays on demand here, needs no transport.
        let mut connection = if self.hello_to(own).is_some() {
            let [near, far] = Memory::pair(frame);
            let shared = Arc::clone(self);
            tokio::spawn(async move {
                if let Ok((far, hello)) = hear_greeting(Box::pin(async { Ok(far) })).await {
                    shared.welcome(far, hello, None, true).await;
                }
            });
            near
        } else {
            transport.connect(address.place(), frame).await?
        };
        say(&mut connection, own).await?;
        let answer = hear(&mut connection).await?;
        Ok((connection, answer.unwrap_or(Answer::Refused(Refusal::NoGreeting))))
    }
}
