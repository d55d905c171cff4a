//! The capacities of the queues between the roles of a module.
//!
//! The sessions of the module are composed as written, and [`rumpsteak_fsm::capacity`] computes the
//! queues of one run. Later sessions need no more room: a role that is one session ahead of a peer
//! sends into a queue of its own, and a role that is two sessions ahead waits. Only a role on
//! demand shares a queue among several sessions of its peer, so such machines are repeated.
//!
//! The result for a queue is:
//!
//! * *At most n*: no run of the composed sessions has more than n messages in the queue. A set of
//!   roles only ever runs such runs, or a beginning of one.
//! * *Waits*: the queue can hold any number of messages, but senders may wait. This is believed
//!   only of *directed* systems, where longer queues than necessary are still enough. Such a queue
//!   gets room for at least [`ROOM`] messages, so that the sender goes on for a while.
//! * *Growable* otherwise: nothing is proven, and only the bound on memory is lost. This is so for
//!   all queues if a role has no session or different sessions, because k-MC is about one machine a
//!   role; and for queues that would wait, if others have a declared capacity.
//!
//! A queue with a [declared](super::declared) capacity has this capacity, and its sender waits.
//!
//! The search is limited to [`CONFIGURATIONS`], and never makes a build fail.

use litemap::LiteMap;
use rumpsteak_front::role::Route;
use rumpsteak_fsm::capacity::{self, ChannelCapacity, Occupancy};
use rumpsteak_fsm::{Fsm, Limits, Role};

use crate::judge::closed_system::Session;
use crate::judge::sessions::Judgement;
use crate::scope::{Scope, ScopedRole};

/// The number of configurations that are visited for a system.
const CONFIGURATIONS: usize = 5_000;

/// The least capacity of a queue whose sender waits.
const ROOM: usize = 16;

/// The largest ring that is allocated at once. Larger queues grow.
const LARGEST: usize = 1_024;

/// The queues of each role of the module: the struct of the peer, and the capacity: `AtMost(2)`.
pub(crate) fn find(
    scope: &Scope<'_>,
    judgement: &Judgement,
    limits: &Limits,
) -> Vec<Vec<(String, String)>> {
    let limits = limits.configurations(limits.configurations.min(CONFIGURATIONS));
    let machine = |of_role: &Vec<Session<'_>>| {
        let (_, first) = of_role.first()?;
        // The same session under two names is one session.
        let is_one = of_role.iter().all(|(_, other)| other.fsm == first.fsm);
        is_one.then(|| first.fsm.clone())
    };
    let machines: Option<Vec<Fsm>> =
        judgement.sessions(scope).and_then(|sessions| sessions.iter().map(machine).collect());
    let channels = machines.filter(|of| of.len() > 1).and_then(|of| prove(of, &limits));
    let late = scope.loaded().map_or_else(Vec::new, |(protocol, _)| protocol.late());
    let queues = |own: &ScopedRole<'_>| {
        let queue = |route: &Route| {
            let peer = scope.role(&route.peer)?;
            // Roles that never talk to each other have no channel.
            let channel = (own.role.clone(), peer.role.clone());
            let proven = || match &channels {
                Some(channels) => channels.get(&channel).map_or("AtMost(0)", String::as_str),
                None => "Growable",
            };
            let capacity = match scope.capacity(route) {
                Some((most, _)) => format!("Waits({most})"),
                // Waiting was not proven together with the declared capacities, nor for a queue
                // that its receiver may leave full when it ends.
                None if (!judgement.capacities.is_empty() || late.contains(&channel))
                    && proven().starts_with("Waits") =>
                {
                    "Growable".to_owned()
                }
                None => proven().to_owned(),
            };
            Some((peer.item.name.to_string(), capacity))
        };
        own.item.routes.iter().filter_map(queue).collect()
    };
    scope.roles.iter().map(queues).collect()
}

/// The capacities of the channels of sessions. `None` if the sessions are not known to be safe.
fn prove(machines: Vec<Fsm>, limits: &Limits) -> Option<LiteMap<(Role, Role), String>> {
    let mut system = rumpsteak_fsm::System::new(machines).ok()?;
    if system.machines().iter().any(Fsm::is_on_demand) {
        // A queue of a role on demand may have messages of several sessions of its peer.
        system = capacity::repeated(&system);
    }
    let found = capacity::find(&system, limits).ok()?;
    // Minimal capacities are claimed of directed systems only.
    let may_wait = found.is_minimal;
    let choose = |channel: ChannelCapacity| {
        let room = channel.capacity.max(ROOM);
        let capacity = match channel.occupancy {
            Occupancy::AtMost(most) if most <= LARGEST => format!("AtMost({most})"),
            Occupancy::Unbounded if may_wait && room <= LARGEST => format!("Waits({room})"),
            _ => "Growable".to_owned(),
        };
        ((channel.from, channel.to), capacity)
    };
    let mut capacities = LiteMap::new();
    found.channels.into_iter().map(choose).for_each(|(of, most)| _ = capacities.insert(of, most));
    Some(capacities)
}
