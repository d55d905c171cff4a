//! Whether *every* run of a system receives each message and serves each role that waits, whatever
//! is chosen: liveness in the sense of Ghilezan, Pantović, Prokić, Scalas and Yoshida (POPL'21).
//!
//! # The judgement
//!
//! A run is *fair* if a machine that can send, or receive what is there, does so sooner or later;
//! nothing is said about which of its options it takes. A system is live in every run if in each
//! fair run each message is received and each machine that waits moves on. A safe system that
//! starves nobody only says that this *can* always happen:
//!
//! ```text
//!   b = rec X . c?go; {c!again; X, c!stop; a?result; end}     a = b!result; end
//!
//!   c!again for ever: `result` stays in its queue, though it can always still be received
//! ```
//!
//! # How it is found
//!
//! In the configurations under a bound for which the system is known to be
//! [settled](super#how-it-is-explored): for each queue, those in which it holds a message that its
//! receiver is not ready for; for each machine, those in which it waits in vain. A fair run that
//! stays there for ever ends in a strongly connected component, in which each machine moves or
//! never can. What a machine can do stays possible until it does it, because machines are directed;
//! so a component either has such a run that goes through all of it, or none.
//!
//! A send that the bound holds back counts as one that its machine cannot do. This makes more runs
//! fair, so a "live" stays right; and no run is missed, because a settled system can do every run
//! within the bound, in another order.
//!
//! Cost: O((machines + channels) · steps) for the steps of the explored graph.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::NodeIndex;
use petgraph::visit::{EdgeRef, NodeFiltered};

use super::composition::System;
use super::explorer::{Continuations, Explorer, Node};
use super::interned::{ChannelIndex, InternedSystem, MachineIndex};
use crate::machine::StateId;
use crate::verdict::Limits;

/// Whether a system of directed machines is live in every run, which it is if it has no more
/// configurations under this bound than the limits allow.
///
/// `bound` is that of an exhaustive [`Coverage`](super::Coverage), of a verdict that is safe.
pub(crate) fn is_live_in_every_run(system: &System, bound: usize, limits: &Limits) -> bool {
    let interned = InternedSystem::whole(system);
    let Some(explorer) = explored(&interned, bound, limits) else { return false };
    let in_vain = |node, machine| {
        let first = explorer.moves(node, machine).next();
        first.is_some_and(|by| !interned.get(by).is_send) && !explorer.can_move(node, machine)
    };
    let ignored = |node, channel: ChannelIndex| {
        explorer.held(node, channel) > 0
            && !explorer
                .moves(node, interned.ends[channel].1)
                .map(|by| interned.get(by))
                .any(|by| by.channel as ChannelIndex == channel && explorer.is_enabled(node, by))
    };
    let mut machines = 0..interned.machines();
    let mut channels = 0..interned.channels();
    !machines.any(|machine| stays(&explorer, |node| in_vain(node, machine)))
        && !channels.any(|channel| stays(&explorer, |node| ignored(node, channel)))
}

/// Whether a machine of the system, wherever it receives in one of these states, can come to where
/// it does not receive. `bound` and `limits` are as above.
pub(crate) fn can_leave(
    system: &System,
    machine: usize,
    states: &[StateId],
    bound: usize,
    limits: &Limits,
) -> bool {
    let interned = InternedSystem::whole(system);
    let Some(explorer) = explored(&interned, bound, limits) else { return false };
    let is_out = |node| (!explorer.kind(node, machine).receives_only()).then_some(0);
    let continuations = Continuations::of(&explorer.graph, 1, |_| None, is_out);
    // The states of all machines are numbered together.
    let base = interned.initial[machine] as usize - system.machines()[machine].initial().index();
    let is_in = |node: &Node| {
        let state = explorer.state(*node, machine) as usize - base;
        states.contains(&StateId::from_index(state))
    };
    explorer.nodes().filter(is_in).all(|node| continuations.can(node, 0))
}

/// All configurations under a bound, if they are no more than the limits allow.
fn explored<'a>(
    interned: &'a InternedSystem,
    bound: usize,
    limits: &Limits,
) -> Option<Explorer<'a>> {
    let explorer = Explorer::all(interned, &interned.uniform(bound), limits.configurations);
    (!explorer.is_truncated).then_some(explorer)
}

/// Whether a fair run stays for ever in configurations of this kind.
fn stays(explorer: &Explorer<'_>, is_kind: impl Fn(Node) -> bool) -> bool {
    let is_kind = |node: NodeIndex| is_kind(node.index() as Node);
    let graph = NodeFiltered::from_fn(&explorer.graph, is_kind);
    let mut components = kosaraju_scc(&graph);
    components.iter_mut().any(|members| {
        members.sort_unstable();
        let inside = members.iter().flat_map(|&member| explorer.graph.edges(member));
        let inside = inside.filter(|edge| members.binary_search(&edge.target()).is_ok());
        let moved: Vec<MachineIndex> = inside
            .map(|edge| explorer.system.get(*edge.weight() as usize).machine as MachineIndex)
            .collect();
        let is_fair_to = |machine: MachineIndex| {
            moved.contains(&machine)
                || !members.iter().any(|member| explorer.can_move(member.index() as Node, machine))
        };
        !moved.is_empty() && (0..explorer.system.machines()).all(is_fair_to)
    })
}
