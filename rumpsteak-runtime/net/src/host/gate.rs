//! Connections that have not greeted yet: how many there may be, and which one gives way.
//!
//! A stranger can open connections and say nothing. So such a connection is given up soon; and when
//! there are too many, of one address or of all, the oldest gives way to the one that comes. A peer
//! that resumes its session says so at once: it gets in however many connections say nothing.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::{Listened, Shared, lock};
use crate::transport::Opening;

/// For how long a connection may take to greet, or to go when it was answered.
pub(super) const MOMENT: Duration = Duration::from_secs(2);

/// The connections that have not greeted yet.
#[derive(Default)]
pub(super) struct Gate {
    /// By age, with the address of the caller, if there is one.
    waiting: BTreeMap<u64, (Option<IpAddr>, AbortHandle)>,
    next: u64,
}

/// A connection's place among those that have not greeted yet.
struct Waits(Arc<Shared>, u64);

impl Drop for Waits {
    fn drop(&mut self) {
        lock(&self.0.gate).waiting.remove(&self.1);
    }
}

impl Gate {
    /// Makes room for a connection from this address.
    fn make_room(&mut self, caller: Option<IpAddr>, [of_caller, of_all]: [usize; 2]) {
        let is_same = |(_, (other, _)): &(_, &(_, _))| caller.is_some() && *other == caller;
        let same = self.waiting.iter().filter(is_same);
        if same.clone().count() >= of_caller {
            let oldest = same.map(|(number, _)| *number).next();
            oldest.and_then(|number| self.waiting.remove(&number)).inspect(|(_, it)| it.abort());
        } else if self.waiting.len() >= of_all {
            self.give_up_oldest();
        }
    }

    /// Gives up the connection that has waited the longest.
    pub(super) fn give_up_oldest(&mut self) {
        self.waiting.pop_first().inspect(|(_, (_, task))| task.abort());
    }
}

impl Shared {
    /// Hears the greeting of a connection, and answers it, in a task.
    pub(super) fn admit(self: &Arc<Self>, caller: Option<IpAddr>, opening: Opening, at: Listened) {
        let caller = caller.map(network);
        let mut gate = lock(&self.gate);
        gate.make_room(caller, [self.limits.connections_of_address, self.limits.connections]);
        let number = gate.next;
        gate.next += 1;
        let (shared, waits) = (Arc::clone(self), Waits(Arc::clone(self), number));
        let task = tokio::spawn(async move {
            let limit = shared.limits.handshake;
            let heard = timeout(MOMENT.min(limit), shared.hear_greeting(opening)).await;
            drop(waits);
            let Ok(Ok((connection, hello))) = heard else { return };
            // A peer that resumes waits for nothing. A new one may come again.
            let place = shared.handshakes.try_acquire().ok();
            let resumes = hello.as_ref().is_some_and(|hello| hello.known.is_some());
            if resumes || place.is_some() {
                let answered = shared.welcome(connection, hello, Some(at), place.is_some());
                let _ = timeout(limit, answered).await;
            }
        });
        gate.waiting.insert(number, (caller, task.abort_handle()));
    }
}

/// The part of an address that one caller has: of IPv6, everyone has a whole network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}
