#![doc = include_str!("collector.md")]

use std::collections::BTreeSet;

use petgraph::algo::is_cyclic_directed;
use petgraph::graph::DiGraph;
use rumpsteak_fsm::Action;

use super::local::{Edge, Local};
use super::merge::Subsets;
use super::validity::Problem;
use crate::index::{IndexSet, index};

/// True if it makes no difference which of the messages that are overtaken in these states, and of
/// all others that may be under way then, is taken first. `machine` is the smallest one.
pub(super) fn collects(subsets: &Subsets<'_>, problems: &[Problem], machine: &Local) -> bool {
    let next = |state: u32, action: &Action| {
        let found = machine.edges(state).iter().find(|edge| edge.action == *action);
        found.map(|edge| edge.target)
    };
    let state = |problem: &Problem| {
        let mut word = subsets.word(problem.state).into_iter();
        word.try_fold(0, |state, letter| next(state, &subsets.action(letter)))
    };
    let Some(mut work) = problems.iter().map(state).collect::<Option<Vec<u32>>>() else {
        return false;
    };
    let mut seen = BTreeSet::new();
    while let Some(state) = work.pop() {
        let edges = machine.edges(state);
        let receives: Vec<&Edge> = edges.iter().filter(|edge| !edge.action.is_send()).collect();
        if !seen.insert(state) || receives.is_empty() {
            continue;
        }
        if receives.len() < edges.len() {
            return false;
        }
        for (at, one) in receives.iter().enumerate() {
            let others = receives[..at].iter();
            for other in others.filter(|other| other.action.peer != one.action.peer) {
                let found = at_any_time(machine, state, one);
                let Some(compared) = found.or_else(|| at_any_time(machine, state, other)) else {
                    return false;
                };
                work.extend(compared);
            }
        }
    }
    true
}

/// The states that are compared for a receive, before it and behind it. `None` if it may not be
/// taken at any time.
fn at_any_time(machine: &Local, source: u32, taken: &Edge) -> Option<BTreeSet<u32>> {
    let is_heard = |edge: &&Edge| !edge.action.is_send() && edge.action.peer == taken.action.peer;
    let mut pairs = IndexSet::from_iter([(source, taken.target)]);
    let mut later = Vec::new();
    let mut at = 0;
    while let Some(&(before, behind)) = pairs.get_index(at) {
        let (own, others) = (machine.edges(before), machine.edges(behind));
        let receive = own.iter().find(|edge| edge.action == taken.action);
        let is_equal = match receive {
            Some(edge) => edge.target == behind,
            None => {
                !own.is_empty() && own.len() == others.len() && !own.iter().any(|of| is_heard(&of))
            }
        };
        // The checks of other roles rely on this: it sends nothing while a message is due.
        if !is_equal || own.iter().any(|edge| edge.action.is_send()) {
            return None;
        }
        for edge in own.iter().filter(|edge| !is_heard(edge)) {
            let same = others.iter().find(|other| other.action == edge.action)?;
            let next = pairs.insert_full((edge.target, same.target)).0;
            later.extend(receive.is_none().then_some((index(at), index(next))));
        }
        at += 1;
    }
    let compared = pairs.into_iter().flat_map(|(before, behind)| [before, behind]).collect();
    (!is_cyclic_directed(&DiGraph::<(), ()>::from_edges(later))).then_some(compared)
}
