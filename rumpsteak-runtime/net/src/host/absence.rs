//! The errors about peers that do not come.

use std::io;
use std::sync::Arc;

use super::{Shared, Slot, SlotPeer, lock};
use crate::wire::{Hello, RouteId};
use crate::{Address, NetError, Refusal};

impl Shared {
    /// The error of a role whose peer has not come, though it was called at these addresses.
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
        how += &self.with_slot(own, |slot| slot.in_vain.clone()).flatten().unwrap_or_default();
        let RouteId { role, peer, session, .. } = own.route.clone();
        NetError::Absent { role, peer, session, how, last }
    }

    /// Returns true if the host does not listen, and a peer without an address plays on another
    /// host: neither end can call the other.
    pub(crate) fn cuts_off(&self, own: &Hello) -> bool {
        let RouteId { protocol, session, peer, .. } = &own.route;
        let is_elsewhere = |slot: &Slot| matches!(slot.peer, SlotPeer::Remote(_));
        let first = (protocol.clone(), session.clone(), String::new());
        let registry = self.registry();
        let roles = registry.roles.range(&first..);
        let mut roles = roles.take_while(|(at, _)| (&at.0, &at.1) == (protocol, session));
        lock(&self.listened).is_empty()
            && roles.any(|(_, slots)| slots.get(peer).is_some_and(is_elsewhere))
    }

    /// Tells a role that a peer has called in vain, if the role waits for it in other sessions.
    pub(super) fn missed(&self, hello: &Hello) {
        let RouteId { protocol, session, role, peer } = &hello.route;
        for (endpoint, slots) in &mut self.registry().roles {
            if (&endpoint.0, &endpoint.2) == (protocol, peer)
                && let Some(slot) = slots.get_mut(role)
            {
                slot.called_for(session);
            }
        }
    }
}

impl Slot {
    /// Notes that the peer has called in vain for a session, perhaps an earlier one of this name.
    pub(super) fn called_for(&mut self, session: &str) {
        self.in_vain = Some(if self.hello.route.session == session {
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
