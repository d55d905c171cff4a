//! Peers that do not come: what is said of them.

use std::io;
use std::sync::Arc;

use super::{Shared, Slot, texts};
use crate::address::Address;
use crate::error::NetError;
use crate::handshake::Hello;
use crate::refusal::Refusal;

impl Shared {
    /// That a peer has not come, which was called at these addresses.
    pub(crate) fn absent(
        &self,
        own: &Hello,
        called: &[Address],
        last: Option<Arc<io::Error>>,
    ) -> NetError {
        let (waited, listens) = (self.limits.join, texts(&self.listens()).join(" or "));
        let no_way = "no address of it was given, and this host does not listen";
        let mut how = if !called.is_empty() {
            format!("and called {} for {waited:?}", texts(called).join(" and "))
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
        how += &self.slot(own, |slot| slot.in_vain.clone()).flatten().unwrap_or_default();
        let Hello { role, peer, session, .. } = own.clone();
        NetError::Absent { role, peer, session, how, last }
    }

    /// Whether a peer, of which no address was given, plays on another host, and cannot call.
    pub(crate) fn cuts_off(&self, own: &Hello) -> bool {
        let state = self.state();
        let first = (own.protocol.clone(), own.session.clone(), String::new());
        let seats = state.seats.range(&first..).map(|(at, seat)| ((&at.0, &at.1), seat));
        let mut seats = seats.take_while(|(at, _)| *at == (&first.0, &first.1));
        let is_elsewhere = |slot: &Slot| slot.taken.is_some() && !slot.is_wired;
        state.listened.is_empty()
            && seats.any(|(_, seat)| seat.slots.get(&own.peer).is_some_and(is_elsewhere))
    }

    /// Tells a role that a peer has called in vain, where it waits for it in other sessions.
    pub(super) fn missed(&self, hello: &Hello) {
        let of_role = (&hello.protocol, &hello.peer);
        for ((protocol, _, role), seat) in &mut self.state().seats {
            if (protocol, role) == of_role
                && let Some(slot) = seat.slots.get_mut(&hello.role)
            {
                slot.called_for(&hello.session);
            }
        }
    }
}

impl Slot {
    /// Notes that the peer has called in vain for a session, perhaps an earlier one of this name.
    pub(super) fn called_for(&mut self, session: &str) {
        self.in_vain = Some(if self.hello.session == session {
            ", but has called for the session of this name that went with the process before this one".to_owned()
        } else {
            format!(", and has called for the session `{session}`")
        });
    }

    /// Notes that an end was refused, which may not be the peer.
    pub(super) fn refused(&mut self, refusal: &Refusal) {
        // A stranger may say much.
        let why: String = refusal.to_string().chars().take(1_000).collect();
        self.in_vain = Some(format!(", and an end that called for it does not fit: {why}"));
    }
}
