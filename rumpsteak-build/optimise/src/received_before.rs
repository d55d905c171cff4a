//! The messages that a role has received in a round when it sends.
//!
//! ```text
//!   rec X . s!ready . s?value . t?ready . t!value . X        before t!value:  s?value, t?ready
//! ```
//!
//! A receive comes before a send if a way leads from it to the send on which no loop around the
//! send begins its next round. An edge begins a round of a loop if it leads to a state that
//! dominates its source; the loop of that state is everything that can reach such an edge without
//! it (a natural loop). Costs O(sends and loops · transitions).

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use petgraph::Direction::Incoming;
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, EdgeIndex, EdgeReference, NodeIndex};
use petgraph::visit::{Dfs, EdgeFiltered, EdgeRef, IntoEdges, Reversed};
use rumpsteak_fsm::{Action, Direction, Fsm, StateId, TransitionId};

type Graph<'a> = DiGraph<(), &'a Action>;

/// A loop: the edges that begin its next round, and the states around which it goes.
struct Loop {
    again: Vec<EdgeIndex>,
    body: FixedBitSet,
}

/// For each send of a machine the receives that come before it in its round.
pub fn received_before(machine: &Fsm) -> Vec<(TransitionId, Vec<TransitionId>)> {
    let node = |state: StateId| NodeIndex::new(state.index());
    let graph = machine.graph();
    let loops = loops(&graph, node(machine.initial()));

    let direction = |id: TransitionId| machine.transition(id).action.direction;
    let mut found = Vec::new();
    for state in machine.states() {
        let leaving = machine.transitions_from(state).map(|by| by.id);
        let sends = leaving.filter(|&id| direction(id) == Direction::Send);
        let sends: Vec<TransitionId> = sends.collect();
        if sends.is_empty() {
            continue;
        }
        let around = loops.iter().filter(|found| found.body.contains(state.index()));
        let again: BTreeSet<EdgeIndex> = around.flat_map(|found| &found.again).copied().collect();
        let round = EdgeFiltered::from_fn(&graph, |edge| !again.contains(&edge.id()));
        let round = Reversed(&round);
        let mut before = Vec::new();
        let mut reached = Dfs::new(round, node(state));
        while let Some(reached) = reached.next(round) {
            let incoming = round.edges(reached).map(|by| TransitionId::from_index(by.id().index()));
            before.extend(incoming.filter(|&id| direction(id) == Direction::Receive));
        }
        found.extend(sends.into_iter().map(|send| (send, before.clone())));
    }
    found
}

fn loops(graph: &Graph<'_>, initial: NodeIndex) -> Vec<Loop> {
    let dominators = simple_fast(graph, initial);
    // A loop is entered from outside as well.
    let may_begin = |state| state == initial || graph.edges_directed(state, Incoming).count() > 1;
    let leads_back = |edge: &EdgeReference<'_, &Action>| {
        let mut all = dominators.dominators(edge.source()).into_iter().flatten();
        all.any(|one| one == edge.target())
    };
    let natural = |head: NodeIndex| {
        let again = graph.edges_directed(head, Incoming).filter(leads_back);
        let again: Vec<EdgeReference<'_, &Action>> = again.collect();
        let inside = EdgeFiltered::from_fn(graph, |edge| edge.target() != head);
        let inside = Reversed(&inside);
        let mut body = FixedBitSet::with_capacity(graph.node_count());
        body.insert(head.index());
        let mut reached = Dfs::empty(inside);
        reached.stack.extend(again.iter().map(|edge| edge.source()));
        while let Some(reached) = reached.next(inside) {
            body.insert(reached.index());
        }
        Loop { again: again.iter().map(|edge| edge.id()).collect(), body }
    };
    graph.node_indices().filter(|&state| may_begin(state)).map(natural).collect()
}
