//! Connections that others make: what they are answered.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    Arrival, Call, LONGEST_PAUSE, Listened, MOMENT, Moved, Shared, dismiss, hear_greeting, lock,
};
use crate::handshake::{Answer, Hello, say};
use crate::refusal::Refusal;
use crate::transport::{Connection, Opening};

/// What a host makes of a greeting.
enum Reception {
    /// The role is not here yet, or it calls the peer itself at the moment.
    Wait,
    Dismiss(Answer),
    /// With this welcome, if it is the first connection of this peer.
    Take(Option<Hello>, UnboundedSender<Arrival>),
}

impl Shared {
    /// Hears the greeting of a connection, and answers it, in a task.
    pub(super) fn admit(self: &Arc<Self>, caller: Option<IpAddr>, opening: Opening, at: Listened) {
        let (shared, limit) = (Arc::clone(self), self.limits.handshake);
        let hears = tokio::spawn(async move {
            let heard = timeout(MOMENT.min(limit), hear_greeting(opening)).await;
            let Ok(Ok((connection, hello))) = heard else { return };
            // Another task, which does not give way.
            tokio::spawn(async move {
                // A peer that resumes waits for nothing. A new one may come again.
                let place = shared.handshakes.try_acquire().ok();
                if place.is_some() || hello.known.is_some() {
                    let answered = shared.welcome(connection, hello, Some(at), place.is_some());
                    let _ = timeout(limit, answered).await;
                }
            });
        });
        lock(&self.gate).admit(caller, hears.abort_handle(), &self.limits);
    }

    /// Answers a greeting, once it is known what to answer. An impatient host does not wait until
    /// one that is not to stay has gone.
    pub(super) async fn welcome(
        &self,
        mut connection: Connection,
        hello: Hello,
        at: Option<Listened>,
        is_patient: bool,
    ) {
        let (mut is_compared, until) = (false, Instant::now() + self.limits.handshake / 2);
        let answer = loop {
            if !hello.has_short_names() {
                break Answer::Refused(Refusal::Name);
            }
            if !connection.may_play(&hello.protocol, &hello.role) {
                break Answer::Refused(Refusal::Certificate);
            }
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            let own = self.hello_to(&hello);
            if let Some(elsewhere) =
                at.as_ref().and_then(|at| self.elsewhere(at, &hello, own.as_ref()))
            {
                break elsewhere;
            }
            if !is_compared && let Some(own) = own.filter(|own| hello.knows(own)) {
                if let Err(refusal) = own.fits(&hello).await {
                    self.slot(&own, |slot| slot.refused(&refusal));
                    break Answer::Refused(refusal);
                }
                is_compared = true;
            }
            match self.receive(&hello, is_compared) {
                // Who calls hears why before it gives up this call, and calls again.
                Reception::Wait if timeout_at(until, changed).await.is_ok() => {}
                Reception::Wait => {
                    self.missed(&hello);
                    break Answer::Refused(Refusal::Unknown);
                }
                Reception::Dismiss(answer) => break answer,
                Reception::Take(own, arrivals) => {
                    let call = if own.is_some() { Call::Theirs } else { Call::Again };
                    if let Some(own) = own {
                        // If this fails, the peer calls again.
                        let _ = say(&mut connection, &Answer::Welcome(own)).await;
                    }
                    let _ = arrivals.send(Arrival::Remote(connection, Box::new(hello), call));
                    return;
                }
            }
        };
        let said = dismiss(connection, answer.clone(), is_patient).await;
        let place = (hello.protocol, hello.session, hello.peer);
        if matches!(answer, Answer::Moved(_))
            && let Some(moved) = self.state().moved.get_mut(&place)
        {
            let again = LONGEST_PAUSE + self.limits.handshake;
            // Who has not heard calls again by then.
            let asks = Instant::now() + if said == Some(answer) { Duration::ZERO } else { again };
            moved.asks.insert(hello.role, asks.min(moved.until));
        }
        self.changed.notify_waiters();
    }

    /// How the role that a peer calls greets it, if it is here.
    pub(crate) fn hello_to(&self, hello: &Hello) -> Option<Hello> {
        let place = (hello.protocol.clone(), hello.session.clone(), hello.peer.clone());
        let state = self.state();
        Some(state.seats.get(&place)?.slots.get(&hello.role)?.hello.clone())
    }

    fn receive(&self, hello: &Hello, is_compared: bool) -> Reception {
        let mut state = self.state();
        let place = (hello.protocol.clone(), hello.session.clone(), hello.peer.clone());
        let refuse = |refusal| Reception::Dismiss(Answer::Refused(refusal));
        let Some(seat) = state.seats.get_mut(&place) else {
            if hello.known.is_some() {
                let tokens = [hello.known, Some(hello.instance)];
                let is_peer = |moved: &&Moved| moved.tokens.get(&hello.role) == Some(&tokens);
                let is_told = |moved: &&Moved| moved.until > Instant::now() && is_peer(moved);
                let moved = state.moved.get(&place).filter(is_told);
                let moved = moved.map(|moved| Reception::Dismiss(Answer::Moved(moved.to.clone())));
                return moved.unwrap_or(refuse(Refusal::Gone));
            }
            state.announce(place, &self.limits);
            return Reception::Wait;
        };
        let Some(slot) = seat.slots.get_mut(&hello.role) else {
            return refuse(Refusal::Unknown);
        };
        if !hello.knows(&slot.hello) {
            slot.called_for(&hello.session);
            return refuse(Refusal::StartedAgain);
        }
        if !is_compared {
            // It has come in this very moment: compare, and come back.
            self.changed.notify_waiters();
            return Reception::Wait;
        }
        match slot.taken {
            Some(taken) if taken == hello.instance => Reception::Take(None, slot.arrivals.clone()),
            Some(_) => refuse(Refusal::Taken),
            None if hello.known.is_some() => refuse(Refusal::Gone),
            // Where both call each other, one of the two waits.
            None if slot.is_calling && slot.hello.role < hello.role => Reception::Wait,
            None => {
                slot.taken = Some(hello.instance);
                Reception::Take(Some(slot.hello.clone()), slot.arrivals.clone())
            }
        }
    }
}
