//! Liveness in *every* run of a system, whatever is chosen: each message is received and each
//! waiting role is served (Ghilezan, Pantović, Prokić, Scalas and Yoshida, POPL'21).
//!
//! # The judgement
//!
//! A run is *fair* if a machine that can send, or receive a message that is there, does so
//! eventually. Its choices need not be fair. A system is live in every run if in each fair run each
//! message is received and each waiting machine moves on; otherwise a run *neglects* a role. A safe
//! system without starvation only guarantees that this *can* always happen:
//!
//! ```text
//!   b = rec X . c?go; {c!again; X, c!stop; a?result; end}     a = b!result; end
//!
//!   c!again for ever: `result` stays in its queue, though it can always still be received
//! ```
//!
//! # How it is found
//!
//! The search looks at all configurations under a bound for which the system is
//! [settled](super#how-it-is-explored): for each queue, those in which it holds a message that its
//! receiver is not ready for; for each machine, those in which it waits in vain. A fair run that
//! stays in them for ever ends in a strongly connected component in which each machine moves or
//! never can. A possible move of a machine stays possible until it moves, because no other machine
//! takes its messages. So either such a run goes through all of a component, or the component has
//! none.
//!
//! A send that the bound holds back counts as impossible. This makes more runs fair, so a "live" is
//! right. No run is missed, because a settled system can do every run within the bound, in another
//! order. If held-back sends count as possible, each run found is real in any system.
//!
//! Cost: O((machines + channels) · explored steps).

use fixedbitset::FixedBitSet;
use litemap::LiteMap;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::NodeIndex;
use petgraph::visit::{EdgeRef, NodeFiltered};

use super::{
    ChannelIndex, Continuations, Exploration, Explorer, Failure, InternedSystem, MachineIndex,
    Neglected, Node, Run, Step, System, components, explore,
};
use crate::machine::{Fsm, Role, StateId};
use crate::verdict::{Limit, Limits, Verdict};

/// The result of [`live_in_every_run`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EveryRun {
    /// The roles that some run neglects, one entry each.
    pub neglected: Vec<Neglected>,
    /// The limit that may hide other neglected roles.
    pub limit: Option<Limit>,
}

/// Finds the roles that some run neglects, in a system without starvation. Without any, the system
/// is live in every run.
///
/// It is not explored if no machine makes a choice again and again: after the last choice, all runs
/// of directed machines are reorderings of one run.
pub fn live_in_every_run(
    system: &System,
    explore: impl FnOnce() -> Exploration,
    limits: &Limits,
) -> EveryRun {
    let Judged { mut found, limit, .. } = judge(system, explore, limits);
    found.dedup_by(|next, first| next.neglected.role == first.neglected.role);
    EveryRun { neglected: found.into_iter().map(|found| found.neglected).collect(), limit }
}

/// Compares a safe system with a `promised` safe system of the same roles. In every run it has to
/// receive the messages, and serve the roles, that the promised one does in every run. Only roles
/// that are `asked` count. Unsafe: a run after which a role may be neglected.
pub fn keeps_promises(
    system: &System,
    promised: &System,
    asked: impl Fn(&Role) -> bool,
    limits: &Limits,
) -> Verdict<(), Box<Run>> {
    let own = judge(system, || explore(system, limits), limits);
    let is_asked = |found: &&Found| asked(&found.neglected.role);
    if own.limit.is_none() && !own.perhaps.iter().any(|found| is_asked(&found)) {
        return Verdict::Safe(());
    }
    let due = judge(promised, || explore(promised, limits), limits);
    let is_broken = |found: &&Found| {
        let Neglected { role, from, .. } = &found.neglected;
        let is_it = |due: &Found| (&due.neglected.role, &due.neglected.from) == (role, from);
        is_asked(found) && !due.perhaps.iter().any(is_it)
    };
    let is_unknown = own.perhaps.iter().any(|found| is_broken(&found));
    let unknown = Limit::Queue(limits.queue);
    match (own.found.iter().find(is_broken), due.limit) {
        (Some(Found { neglected, steps }), None) => {
            let run = Run::of(system, steps.clone(), Failure::Neglect(neglected.clone()));
            // Always there: each run that a search finds replays.
            run.map_or(Verdict::Undecided(unknown), |run| Verdict::Unsafe(Box::new(run)))
        }
        (Some(_), Some(limit)) => Verdict::Undecided(limit),
        (None, _) if is_unknown => Verdict::Undecided(own.limit.unwrap_or(unknown)),
        (None, _) => own.limit.map_or(Verdict::Safe(()), Verdict::Undecided),
    }
}

/// A neglected role, and the steps to where that begins.
struct Found {
    neglected: Neglected,
    steps: Vec<Step>,
}

/// The neglected roles, in order; for each role first that it waits, then the unread messages.
#[derive(Default)]
struct Judged {
    /// The roles that are certainly neglected.
    found: Vec<Found>,
    /// These, and the roles that only a bound on queues may neglect.
    perhaps: Vec<Found>,
    /// The limit that may hide others.
    limit: Option<Limit>,
}

fn judge(system: &System, explore: impl FnOnce() -> Exploration, limits: &Limits) -> Judged {
    if !system.machines().iter().any(chooses_for_ever) {
        return Judged::default();
    }
    let Exploration { verdict, coverage, .. } = explore();
    let interned = InternedSystem::whole(system);
    // A run that is found is real, even if some were left out.
    let bound = if verdict.is_safe() { coverage.bound } else { 1 };
    let (explorer, is_settled) = settled(&interned, bound, limits);
    let perhaps = neglected(system, &explorer, false);
    let found = if perhaps.is_empty() { vec![] } else { neglected(system, &explorer, true) };
    let is_all = !explorer.is_truncated && perhaps.len() == found.len();
    let limit = match verdict {
        Verdict::Undecided(limit) => Some(limit),
        Verdict::Safe(()) if !is_settled && !explorer.is_truncated => {
            Some(Limit::Queue(limits.queue))
        }
        Verdict::Safe(()) if is_all => None,
        _ => Some(Limit::Configurations(limits.configurations)),
    };
    Judged { found, perhaps, limit }
}

/// By state of a machine, the number of the loops that go through it, if there are any.
fn loops(machine: &Fsm) -> Vec<Option<u32>> {
    let graph = machine.graph();
    let (components, component_of) = components(&graph);
    let is_loop =
        |members: &[NodeIndex]| members.len() > 1 || graph.contains_edge(members[0], members[0]);
    let of_state = |number: u32| is_loop(&components[number as usize]).then_some(number);
    component_of.into_iter().map(of_state).collect()
}

/// True if a machine comes back to a choice of its own, or to a choice between peers.
fn chooses_for_ever(machine: &Fsm) -> bool {
    let chooses = |state| {
        let mut options = machine.transitions_from(state).map(|by| by.action);
        let Some(first) = options.next() else { return false };
        options.any(|other| first.is_send() || other.is_send() || first.peer != other.peer)
    };
    machine.states().zip(loops(machine)).any(|(state, of)| of.is_some() && chooses(state))
}

/// The roles that a run neglects. With `for_sure`, a send that the bound holds back is possible.
fn neglected(system: &System, explorer: &Explorer<'_>, for_sure: bool) -> Vec<Found> {
    let interned = explorer.system;
    let in_vain = |node, machine| {
        explorer.options(node, machine).first().is_some_and(|by| !by.is_send)
            && !explorer.may_end(node, machine)
            && !explorer.can_move(node, machine)
    };
    let ignored = |node, channel: ChannelIndex| {
        let mut moves = explorer.options(node, interned.ends[channel].1).iter();
        explorer.held(node, channel) > 0
            && !moves.any(|by| by.channel as usize == channel && explorer.is_enabled(node, by))
    };
    let waiting = (0..interned.machines()).filter_map(|machine| {
        let idle = idle(&system.machines()[machine]);
        let is_idle = |node| idle.contains(explorer.own_state(node, machine).index());
        let waits = stays(explorer, for_sure, &|node| in_vain(node, machine))?;
        // A machine stays in one state while it waits.
        let busy = |node| in_vain(node, machine) && !is_idle(node);
        let busy = (!idle.is_clear()).then(|| stays(explorer, for_sure, &busy));
        let is_idle = busy == Some(None);
        Some((machine, None, is_idle, busy.flatten().unwrap_or(waits)))
    });
    let unread = (0..interned.channels()).filter_map(|channel| {
        let stays = stays(explorer, for_sure, &|node| ignored(node, channel))?;
        let (from, to) = interned.ends[channel];
        Some((to, Some(from), false, stays))
    });
    let found = waiting.chain(unread).map(|(machine, from, is_idle, (node, meanwhile))| {
        let neglected = Neglected {
            role: interned.role(machine),
            from: from.map(|from| interned.role(from)),
            is_idle,
            meanwhile: interned.steps(&meanwhile),
        };
        ((machine, from), Found { neglected, steps: interned.steps(&explorer.paths.to(node)) })
    });
    let mut sorted = LiteMap::new_vec();
    found.for_each(|(ends, found)| _ = sorted.insert(ends, found));
    sorted.into_tuple_vec().into_iter().map(|(_, found)| found).collect()
}

/// The states in which a machine waits to be asked. It only receives there. Either its loop begins
/// there, or the machine does, and it sends something later.
fn idle(machine: &Fsm) -> FixedBitSet {
    let of_loop = loops(machine);
    let answers = machine.transitions().any(|by| by.action.is_send());
    let begins = |state: StateId| {
        let own = of_loop[state.index()];
        let mut before = machine.transitions().filter(|by| by.target == state);
        let is_entered = before.any(|by| of_loop[by.source.index()] != own);
        match own {
            Some(_) => is_entered || state == machine.initial(),
            None => answers && state == machine.initial(),
        }
    };
    let receives = |state: &StateId| machine.sends_from(*state).next().is_none();
    machine.states().filter(receives).filter(|&it| begins(it)).map(StateId::index).collect()
}

/// True if a machine, wherever it receives in one of these states, can come to where it does not
/// receive. `bound` is of an exhaustive [`Coverage`](super::Coverage).
pub(crate) fn can_leave(
    system: &System,
    machine: usize,
    states: &[StateId],
    bound: usize,
    limits: &Limits,
) -> bool {
    let interned = InternedSystem::whole(system);
    let (explorer, is_settled) = settled(&interned, bound, limits);
    let is_out = |node| (!explorer.kind(node, machine).receives_only()).then_some(0);
    let continuations = Continuations::of(&explorer.graph, 1, |_| None, is_out);
    let is_in = |node: &Node| states.contains(&explorer.own_state(*node, machine));
    let leaves = |node| continuations.can(node, 0);
    is_settled && !explorer.is_truncated && explorer.nodes().filter(is_in).all(leaves)
}

/// All configurations under a bound for which the system is settled, and true if there is such a
/// bound. A reduced exploration settles what can happen, not what happens in every run. So for
/// undirected machines no send may be held back.
fn settled<'a>(
    interned: &'a InternedSystem<'a>,
    mut bound: usize,
    limits: &Limits,
) -> (Explorer<'a>, bool) {
    loop {
        let explorer = Explorer::all(interned, &interned.uniform(bound), limits.configurations);
        let is_settled = interned.is_directed || !explorer.is_held_back();
        if is_settled || explorer.is_truncated || bound >= limits.queue {
            return (explorer, is_settled);
        }
        bound = bound.saturating_mul(2).clamp(1, limits.queue);
    }
}

/// The first configuration of a fair run that stays for ever in configurations of this kind, and a
/// few of its sends.
fn stays(
    explorer: &Explorer<'_>,
    for_sure: bool,
    is_kind: &dyn Fn(Node) -> bool,
) -> Option<(Node, Vec<u32>)> {
    let of_kind = explorer.nodes().filter(|&node| is_kind(node)).map(|node| node as usize);
    let of_kind: FixedBitSet = of_kind.collect();
    if of_kind.is_clear() {
        return None;
    }
    let graph = NodeFiltered(&explorer.graph, of_kind);
    let mut components = kosaraju_scc(&graph);
    components.iter_mut().find_map(|members| {
        members.sort_unstable();
        let inside = members.iter().flat_map(|&member| explorer.graph.edges(member));
        let inside = inside.filter(|edge| members.binary_search(&edge.target()).is_ok());
        let moves: FixedBitSet = inside.map(|edge| *edge.weight() as usize).collect();
        let by = |number: usize| explorer.system.get(number);
        let has_moved = |machine| moves.ones().any(|number| by(number).machine == machine as u32);
        let can_move = |node: Node, machine| {
            let mut moves = explorer.options(node, machine).iter();
            for_sure && moves.any(|by| by.is_send) || explorer.can_move(node, machine)
        };
        let is_fair_to = |machine: MachineIndex| {
            let mut members = members.iter().map(|member| member.index() as Node);
            has_moved(machine) || !members.any(|member| can_move(member, machine))
        };
        let is_fair = !moves.is_clear() && (0..explorer.system.machines()).all(is_fair_to);
        let mut told = LiteMap::new_vec();
        let sends = moves.ones().filter(|&number| {
            let by = by(number);
            by.is_send && told.insert((by.channel, by.message), ()).is_none()
        });
        let first = members.first()?.index() as Node;
        is_fair.then(|| (first, sends.take(4).map(|number| number as u32).collect()))
    })
}
