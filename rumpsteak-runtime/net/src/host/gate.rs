//! Connections that have not greeted yet: how many there may be, and which one gives way.
//!
//! A stranger can open connections and say nothing. If there are too many, of one address or of
//! all, the oldest gives way to the one that comes. A peer that resumes its session greets at once,
//! so it gets in however many connections say nothing.

use std::net::{IpAddr, Ipv6Addr};

use tokio::task::AbortHandle;

use crate::Limits;

/// The connections that have not greeted yet, by age: the address of the caller, if it has one,
/// and the task that hears the greeting.
#[derive(Default)]
pub(super) struct Gate(Vec<(Option<IpAddr>, AbortHandle)>);

impl Gate {
    /// Lets a connection in, in the place of an older one if there are too many.
    pub(super) fn admit(&mut self, caller: Option<IpAddr>, task: AbortHandle, limits: &Limits) {
        let caller = caller.map(network);
        self.0.retain(|(_, task)| !task.is_finished());
        let is_same = |other: Option<IpAddr>| caller.is_some() && other == caller;
        if self.0.iter().filter(|(other, _)| is_same(*other)).count()
            >= limits.connections_of_address
        {
            self.give_up_oldest(is_same);
        } else if self.0.len() >= limits.connections {
            self.give_up_oldest(|_| true);
        }
        self.0.push((caller, task));
    }

    /// Gives up the connection that has waited the longest among those of these callers.
    pub(super) fn give_up_oldest(&mut self, is_one: impl Fn(Option<IpAddr>) -> bool) {
        if let Some(oldest) = self.0.iter().position(|(caller, _)| is_one(*caller)) {
            self.0.remove(oldest).1.abort();
        }
    }
}

/// The part of an address that one caller has: of IPv6, a caller has a whole network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}
