//! Over which transport two ends talk (SJ §5.3).
//!
//! Who calls uses the addresses that it was told, and says which transports it would take, best
//! first. Who is called goes on with this connection if none of its own addresses is better; or
//! else it says where it can be called, and is. What came of it is remembered by the address that
//! was called first, until nobody answers there.

use std::sync::Arc;

use crate::address::Address;
use crate::error::NetError;
use crate::handshake::{Answer, Hello};
use crate::host::{Greeted, Listened, Shared, texts};
use crate::refusal::Refusal;

impl Shared {
    /// Calls a peer once, where it is best called.
    ///
    /// # Errors
    ///
    /// [`Absent`](NetError::Absent) if another call may succeed.
    pub(crate) async fn greet(
        self: &Arc<Self>,
        address: &Address,
        own: &Hello,
    ) -> Result<Greeted, NetError> {
        let settled = Hello { transports: Vec::new(), ..own.clone() };
        let remembered = self.state().better.get(address).cloned();
        if let Some(better) = remembered.filter(|better| own.takes(better)) {
            match self.greet_at(&better, &settled).await {
                Err(NetError::Absent { .. }) | Ok(Greeted::Offers(_)) => {
                    self.state().better.remove(address);
                }
                greeted => return greeted,
            }
        }
        let offers = match self.greet_at(address, own).await? {
            Greeted::Offers(offers) => offers,
            greeted => return Ok(greeted),
        };
        let mut last = None;
        for better in self.choose(address, own, &offers) {
            match self.greet_at(&better, &settled).await {
                Err(NetError::Absent { last: why, .. }) => last = why,
                // The role takes less than its host has.
                Ok(Greeted::Offers(_)) => {}
                greeted => {
                    if greeted.is_ok() {
                        self.state().better.insert(address.clone(), better);
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
        Err(NetError::Refused { peer: own.peer.clone(), refusal })
    }

    /// The addresses among those that a peer offers that this end takes, best first.
    fn choose(&self, called: &Address, own: &Hello, offers: &[Address]) -> Vec<Address> {
        let is_taken = |offer: &&Address| own.takes(offer) && self.transports.of(offer).is_ok();
        let mut taken: Vec<&Address> = offers.iter().filter(is_taken).collect();
        taken.sort_by_key(|offer| own.transports.iter().position(|way| way == offer.scheme()));
        taken.into_iter().map(|offer| offer.seen_from(called)).collect()
    }

    /// The answer to a peer that is to call elsewhere than at this address; `None` if it is best
    /// called there. The role that it calls may not be known yet.
    pub(crate) fn elsewhere(
        &self,
        called: &Listened,
        hello: &Hello,
        own: Option<&Hello>,
    ) -> Option<Answer> {
        let (at, ways) = (called.address.scheme(), &hello.transports);
        let mut listened = self.listens();
        listened.retain(|at| own.is_none_or(|own| own.takes(at)));
        let is_best = match ways.iter().find(|way| listened.iter().any(|at| at.scheme() == **way)) {
            Some(best) => best == at,
            None => ways.is_empty(),
        };
        match own.filter(|own| !own.takes(&called.address)) {
            None if called.has_sessions && is_best => None,
            Some(own) if !listened.iter().any(|at| hello.takes(at)) => {
                let theirs = if ways.is_empty() { at.to_owned() } else { ways.join(", ") };
                let refusal = Refusal::Transport([theirs, own.transports.join(", ")]);
                Some(Answer::Refused(refusal))
            }
            _ => Some(Answer::Offers(texts(&listened))),
        }
    }

    /// Where sessions go on at this host.
    pub(crate) fn listens(&self) -> Vec<Address> {
        let state = self.state();
        let listened = state.listened.iter().filter(|listened| listened.has_sessions);
        listened.map(|listened| listened.address.clone()).collect()
    }
}

impl Hello {
    /// Whether this end talks over the transport of an address.
    fn takes(&self, address: &Address) -> bool {
        self.transports.is_empty() || self.transports.iter().any(|way| way == address.scheme())
    }
}

impl Address {
    /// This address, where it means every machine by whichever name, on the machine that was
    /// called.
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
