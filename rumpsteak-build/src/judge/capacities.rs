//! How much room the queues between the roles of a package need.
//!
//! A *system* is a set of role structs that name each other in their routes, one for each role that
//! any of them talks to, in one crate: what `#[derive(Roles)]` can wire. Its sessions are composed
//! as they are written. [`rumpsteak_fsm::capacity`] says how long the queues of one session get.
//! That is enough for session after session: a role that is a session ahead of a peer sends into a
//! queue of its own for that session, and a role that would be two sessions ahead waits. Only the
//! queues of a role that plays on demand are shared by several sessions of its peer; there each
//! role starts again when it has finished.
//!
//! # What is believed
//!
//! * *At most n*: no run of the composed sessions ever has more than n messages in the queue. A set
//!   of roles runs some of these runs, whatever the executor does and wherever a session is
//!   cancelled.
//! * *Waits*: the queue may hold any number of messages, but capacities are known with which
//!   senders may wait. Believed only of a *directed* system: in one, what is enough stays enough
//!   for longer queues, so that every queue may have as much as the least that is enough or more.
//!   It gets room for [`ROOM`] messages at least, so that a sender goes on for a while.
//! * *Growable* otherwise: nothing was proven, and nothing is lost but the bound on memory.
//!
//! There is no system, and all queues grow, where
//!
//! * a role is of another package, has no session, or is not named back: nobody knows what it does;
//! * the roles play no protocol and are no set that is verified as a whole;
//! * two structs play one role, or a role has two sessions that differ: which of them runs is
//!   decided while they run, and a machine that may do either is none that k-MC speaks of;
//! * something in the target is wrong: then it does not run.
//!
//! # Cost
//!
//! One search for each system, within [`CONFIGURATIONS`]: a build should not get longer for a queue
//! that may be a bit shorter. A search that needs more leaves the queue growable; it never makes a
//! build fail.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_contract::canonical::Hasher;
use rumpsteak_contract::verdict::{Queue, System};
use rumpsteak_fsm::capacity::{self, ChannelCapacity, Occupancy};
use rumpsteak_fsm::{Fsm, Limits, Role};

use crate::link::context::Context;
use crate::link::roles::{LinkError, Pairs, peers};
use crate::sessions::machine;
use crate::source::crate_tree::{ItemId, Tree};

/// How many configurations are visited for one system at most.
const CONFIGURATIONS: usize = 5_000;

/// How many messages a queue whose senders wait has room for at least.
const ROOM: usize = 16;

/// The largest ring, which takes its memory when the roles are made. A queue that may hold more
/// grows to it instead.
const LARGEST: usize = 1_024;

/// Finds the systems of a package: each role's number and queues, for the roles that belong to one.
///
/// `sessions` has the machines of every session of every role, without the roles that have
/// a session whose machine is not known.
pub(crate) fn find(
    context: Context<'_>,
    sessions: &BTreeMap<ItemId, Vec<&Fsm>>,
    limits: &Limits,
) -> BTreeMap<ItemId, System> {
    let Context { tree, pairs, .. } = context;
    let limits = limits.configurations(limits.configurations.min(CONFIGURATIONS));
    let mut seen = BTreeSet::new();
    let mut found = BTreeMap::new();
    for &start in pairs.roles.keys() {
        if seen.contains(&start) {
            continue;
        }
        let (members, is_closed) = members(tree, pairs, start);
        seen.extend(members.iter().copied());
        let machine = |id: &ItemId| match sessions.get(id).map(|of| &of[..]) {
            // The same session under two names is one session.
            Some([machine, others @ ..]) if others.iter().all(|other| other == machine) => {
                Some((*id, *machine))
            }
            _ => None,
        };
        if !is_closed || members.len() < 2 || !is_one(pairs, &members) {
            continue;
        }
        let Some(machines) = members.iter().map(machine).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let composed = machines.iter().map(|(_, machine)| (*machine).clone());
        if let Some(channels) = prove(composed.collect(), &limits) {
            let id = number(tree, &machines);
            let names: BTreeMap<ItemId, &Role> =
                machines.iter().map(|(id, machine)| (*id, machine.role())).collect();
            for &member in &members {
                let queues = queues(tree, member, &names, &channels);
                found.insert(member, (id, queues));
            }
        }
    }
    found
}

/// The role structs that can be wired with a role, and whether all that they name is among them and
/// names them back.
pub(super) fn members(tree: &Tree, pairs: &Pairs, start: ItemId) -> (BTreeSet<ItemId>, bool) {
    let mut members = BTreeSet::from([start]);
    let mut pending = vec![start];
    let mut is_closed = true;
    while let Some(member) = pending.pop() {
        for (_, peer) in peers(tree, member) {
            match peer {
                Some(peer)
                    if pairs.roles.contains_key(&peer)
                        && tree.crate_id(peer) == tree.crate_id(start)
                        && peers(tree, peer).any(|(_, back)| back == Some(member)) =>
                {
                    if members.insert(peer) {
                        pending.push(peer);
                    }
                }
                _ => is_closed = false,
            }
        }
    }
    (members, is_closed)
}

/// Whether the members play one protocol, or are verified as one set. That they play different
/// roles is for the system to say, which has each role once.
fn is_one(pairs: &Pairs, members: &BTreeSet<ItemId>) -> bool {
    let of = |member: &ItemId| match &pairs.roles.get(member)?.link {
        Ok(linked) => Some((true, linked.protocol)),
        Err(LinkError::Set { set }) => Some((false, *set)),
        Err(LinkError::Broken { .. } | LinkError::Wrong { .. }) => None,
    };
    let mut of_members = members.iter().map(of);
    let first = of_members.next().flatten();
    first.is_some() && of_members.all(|other| other == first)
}

/// The capacities of the queues of these sessions, as the runtime has them: `AtMost(2)`. `None` if
/// the sessions are not known to be safe.
fn prove(machines: Vec<Fsm>, limits: &Limits) -> Option<Vec<(Role, Role, String)>> {
    let mut system = rumpsteak_fsm::System::new(machines).ok()?;
    if system.machines().iter().any(Fsm::is_on_demand) {
        // A queue of a role on demand may have messages of several sessions of its peer.
        system = capacity::repeated(&system);
    }
    let found = capacity::find(&system, limits).ok()?;
    // Minimal capacities are only claimed of directed systems, in which longer queues are enough,
    // too.
    let may_wait = found.is_minimal;
    let choose = |channel: ChannelCapacity| {
        let room = channel.capacity.max(ROOM);
        let capacity = match channel.occupancy {
            Occupancy::AtMost(most) if most <= LARGEST => format!("AtMost({most})"),
            Occupancy::Unbounded if may_wait && room <= LARGEST => format!("Waits({room})"),
            _ => "Growable".to_owned(),
        };
        (channel.from, channel.to, capacity)
    };
    Some(found.channels.into_iter().map(choose).collect())
}

/// The number of a system: made from its sessions, and from where its roles are, which is where no
/// other system's are.
fn number(tree: &Tree, members: &[(ItemId, &Fsm)]) -> u64 {
    let mut hasher = Hasher::new();
    for &(member, _) in members {
        tree.hash_place(member, &mut hasher);
    }
    let sessions = machine::number(members.iter().map(|(_, machine)| *machine));
    hasher.bytes(&sessions.to_be_bytes());
    // 0 stands for no system.
    hasher.finish().max(1)
}

/// The queues that a member sends into.
fn queues(
    tree: &Tree,
    member: ItemId,
    names: &BTreeMap<ItemId, &Role>,
    channels: &[(Role, Role, String)],
) -> Vec<Queue> {
    let routes = tree.role(member).into_iter().flat_map(|role| &role.routes);
    let queues = routes.zip(peers(tree, member)).filter_map(|(route, (_, peer))| {
        let (from, to) = (*names.get(&member)?, *names.get(&peer?)?);
        let channel = channels.iter().find(|(f, t, _)| (f, t) == (from, to));
        // Between roles that never talk to each other there is no channel.
        let none = || "AtMost(0)".to_owned();
        let capacity = channel.map_or_else(none, |(_, _, capacity)| capacity.clone());
        Some((route.index, to.to_string(), capacity))
    });
    queues.collect()
}
