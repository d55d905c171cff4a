#![doc = include_str!("collector.md")]

use hashbrown::HashSet;
use petgraph::algo::is_cyclic_directed;
use petgraph::graph::DiGraph;
use rumpsteak_fsm::Action;
use rumpsteak_fsm::system::early::{Pair, compare};

use super::local::{Edge, Local};
use super::merge::Subsets;
use super::validity::Problem;

/// True if it makes no difference which of the messages that are overtaken in these states, and of
/// all others that may be under way then, is taken first. `machine` is the smallest one.
pub(super) fn collects(subsets: &Subsets<'_>, problems: &[Problem], machine: &Local) -> bool {
    let next = |state: u32, action: &Action| {
        machine.edges(state).iter().find(|edge| edge.action == *action).map(|edge| edge.target)
    };
    let state = |problem: &Problem| {
        let mut word = subsets.word(problem.state).into_iter();
        word.try_fold(0, |state, letter| next(state, &subsets.action(letter)))
    };
    let Some(mut work) = problems.iter().map(state).collect::<Option<Vec<u32>>>() else {
        return false;
    };
    let mut seen = vec![false; machine.states.len()];
    while let Some(state) = work.pop() {
        let edges = machine.edges(state);
        let receives: Vec<&Edge> = edges.iter().filter(|edge| !edge.action.is_send()).collect();
        if std::mem::replace(&mut seen[state as usize], true) || receives.is_empty() {
            continue;
        }
        if receives.len() < edges.len() {
            return false;
        }
        for (at, one) in receives.iter().enumerate() {
            let others = receives[..at].iter();
            for other in others.filter(|other| other.action.peer != one.action.peer) {
                let found = early(machine, state, one);
                let Some(compared) = found.or_else(|| early(machine, state, other)) else {
                    return false;
                };
                work.extend(compared);
            }
        }
    }
    true
}

/// The states that are compared for an early receive. `None` if the receive is not early, if a
/// state where the message may be due sends, or if a cycle leads through those that do not receive.
fn early(machine: &Local, source: u32, receive: &Edge) -> Option<Vec<u32>> {
    let moves = |state| machine.edges(state).iter().map(|edge| (&edge.action, edge.target));
    let hears = |of: &&Action| !of.is_send() && of.peer == receive.action.peer;
    let may_wait = |state| !machine.edges(state).is_empty();
    let pairs = compare((source, receive.target), &&receive.action, moves, hears, may_wait)?;
    let waits: HashSet<u32> = pairs.iter().filter(|of| !of.2).map(|of| of.0).collect();
    let later = machine.all_edges().map(|(state, edge)| (state, edge.target));
    let later = later.filter(|(from, to)| waits.contains(from) && waits.contains(to));
    let is_cyclic = is_cyclic_directed(&DiGraph::<(), ()>::from_edges(later));
    // The checks of other roles rely on this: nothing is sent while a message is due.
    let sends = |of: &Pair| moves(of.0).any(|(action, _)| action.is_send());
    let is_early = !is_cyclic && !pairs.iter().any(sends);
    is_early.then(|| pairs.into_iter().flat_map(|(before, after, _)| [before, after]).collect())
}
