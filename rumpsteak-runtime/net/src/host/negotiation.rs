//! The choice of the transport between two ends (SJ §5.3).
//!
//! The caller calls an address that it was given, and says which transports it accepts, best first.
//! If the host has no better address, it accepts the connection. Otherwise it answers with its
//! addresses, and the caller calls the best one. The caller remembers that address until a call
//! there fails.

use std::sync::Arc;

use super::shared::*;
use crate::wire::{Answer, Hello};
use crate::{Address, NetError, Refusal};

impl Shared {
    /// Calls a peer once, at its best address. Fails with [`Absent`](NetError::Absent) if another
    /// call may succeed.
    pub(crate) async fn greet(
        self: &Arc<Self>,
        address: &Address,
        own: &Hello,
    ) -> Result<Greeted, NetError> {
        let settled = || Box::new(Hello { transports: Vec::new(), ..own.clone() });
        let remembered = lock(&self.better).get(address).cloned();
        if let Some(better) = remembered.filter(|better| own.takes(better)) {
            match self.greet_at(&better, &settled()).await {
                Err(NetError::Absent { .. }) | Ok(Greeted::Offers(_)) => {
                    lock(&self.better).remove(address);
                }
                greeted => return greeted,
            }
        }
        let offers = match self.greet_at(address, own).await? {
            Greeted::Offers(offers) => offers,
            greeted => return Ok(greeted),
        };
        let mut last = None;
        let is_taken = |offer: &&Address| own.takes(offer) && self.transports.of(offer).is_ok();
        let mut best: Vec<&Address> = offers.iter().filter(is_taken).collect();
        best.sort_by_key(|offer| own.transports.iter().position(|way| way == offer.scheme()));
        for better in best.into_iter().map(|offer| offer.seen_from(address)) {
            match self.greet_at(&better, &settled()).await {
                Err(NetError::Absent { last: why, .. }) => last = why,
                // The role accepts fewer transports than its host.
                Ok(Greeted::Offers(_)) => {}
                greeted => {
                    if greeted.is_ok() {
                        lock(&self.better).insert(address.clone(), better);
                    }
                    return greeted;
                }
            }
        }
        if last.is_some() {
            return Err(self.absent(own, &[], last));
        }
        let offered = offers.iter().map(Address::scheme).collect::<Vec<_>>().join(", ");
        let all = || self.transports.schemes().join(", ");
        let taken = Some(own.transports.join(", ")).filter(|list| !list.is_empty());
        let refusal = Refusal::Transport([taken.unwrap_or_else(all), offered]);
        Err(NetError::Refused { peer: own.route.peer.to_string(), refusal })
    }

    /// The answer to a peer that should call another address; `None` if this address is the best.
    /// The role that the peer calls may not be known yet.
    pub(super) fn elsewhere(
        &self,
        called: &Listened,
        hello: &Hello,
        own: Option<&Hello>,
    ) -> Option<Answer> {
        let (at, ways) = (called.address.scheme(), &hello.transports);
        let is_fine = called.has_sessions && own.is_none_or(|own| own.takes(&called.address));
        if is_fine && ways.is_empty() {
            return None;
        }
        let mut listened = self.listens();
        listened.retain(|at| own.is_none_or(|own| own.takes(at)));
        let best = ways.iter().find(|way| listened.iter().any(|at| at.scheme() == **way));
        match own.filter(|own| !own.takes(&called.address)) {
            None if called.has_sessions && best.is_some_and(|best| best == at) => None,
            Some(own) if !listened.iter().any(|at| hello.takes(at)) => {
                let theirs = if ways.is_empty() { at.to_owned() } else { ways.join(", ") };
                Some(Answer::Refused(Refusal::Transport([theirs, own.transports.join(", ")])))
            }
            _ => Some(Answer::Offers(listened)),
        }
    }
}

impl Hello {
    /// Returns true if this end accepts the transport of an address.
    fn takes(&self, address: &Address) -> bool {
        self.transports.is_empty() || self.transports.iter().any(|way| way == address.scheme())
    }
}

impl Address {
    /// This address, with the host name that was called in place of a wildcard.
    fn seen_from(&self, called: &Self) -> Self {
        let port = ["0.0.0.0:", "[::]:"].iter().find_map(|any| self.place().strip_prefix(any));
        match (port, called.place().rsplit_once(':')) {
            (Some(port), Some((machine, _))) => {
                Self::new(self.scheme(), &format!("{machine}:{port}"))
            }
            _ => self.clone(),
        }
    }
}
