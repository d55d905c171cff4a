//! Connections that have not greeted yet: how many there may be, and which one gives way.
//!
//! A stranger can open connections and say nothing. If there are too many, of one address or of
//! all, the oldest gives way to the one that comes. A peer that resumes its session greets at once,
//! so it gets in however many connections say nothing.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use tokio::sync::oneshot;

/// The connections that have not greeted yet, by age: the address of the caller, if it has one,
/// and a channel that is closed when the connection is to give way.
#[derive(Default)]
pub(super) struct Gate {
    waiting: BTreeMap<u64, (Option<IpAddr>, oneshot::Sender<()>)>,
    next: u64,
}

impl Gate {
    /// Lets a connection in, as one of so many of its address and of so many of all. Returns its
    /// number here, and what ends when it is to give way.
    pub(super) fn admit(
        &mut self,
        caller: Option<IpAddr>,
        [of_caller, of_all]: [usize; 2],
    ) -> (u64, oneshot::Receiver<()>) {
        let caller = caller.map(network);
        let is_same = |(_, (other, _)): &(_, &(_, _))| caller.is_some() && *other == caller;
        let mut same = self.waiting.iter().filter(is_same).map(|(number, _)| *number);
        let oldest = same.next().filter(|_| 1 + same.count() >= of_caller);
        if oldest.and_then(|number| self.waiting.remove(&number)).is_none()
            && self.waiting.len() >= of_all
        {
            self.give_up_oldest();
        }
        let (stays, gives_way) = oneshot::channel();
        self.next += 1;
        self.waiting.insert(self.next, (caller, stays));
        (self.next, gives_way)
    }

    /// Takes a connection off the list.
    pub(super) fn remove(&mut self, number: u64) {
        self.waiting.remove(&number);
    }

    /// Gives up the connection that has waited the longest.
    pub(super) fn give_up_oldest(&mut self) {
        self.waiting.pop_first();
    }
}

/// The part of an address that one caller has: of IPv6, a caller has a whole network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}
