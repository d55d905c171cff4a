//! What a role has received in this round when it sends.
//!
//! ```text
//!   rec X . s!ready . s?value . t?ready . t!value . X        before t!value:  s?value, t?ready
//! ```
//!
//! A receive comes before a send if a way leads from it to the send on which no loop around the
//! send begins its next round. Loops that the send is behind have had all their rounds.
//!
//! An edge begins a round of a loop if it leads to a state that dominates its source; the loop is
//! what can reach that edge without that state (a natural loop). Costs O(states · transitions).

use fixedbitset::FixedBitSet;
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::{Control, DfsEvent, EdgeFiltered, EdgeRef, Reversed, depth_first_search};

use crate::machine::{Direction, Fsm, StateId, TransitionId};

type Graph = DiGraph<(), TransitionId>;

/// A loop: the edge that begins its next round, and the states around which it goes.
struct Loop {
    again: EdgeIndex,
    body: FixedBitSet,
}

/// For each send of a machine the receives that come before it in its round.
pub fn received_before(machine: &Fsm) -> Vec<(TransitionId, Vec<TransitionId>)> {
    let mut graph = Graph::new();
    let node = |state: StateId| NodeIndex::new(state.index());
    for _ in machine.states() {
        graph.add_node(());
    }
    for transition in machine.transitions() {
        graph.add_edge(node(transition.source), node(transition.target), transition.id);
    }
    let loops = loops(&graph, node(machine.initial()));

    let direction = |id: TransitionId| machine.transition(id).action.direction;
    let mut found = Vec::new();
    for state in machine.states() {
        let mut sends = machine.transitions_from(state);
        let sends = sends.by_ref().filter(|send| send.action.direction == Direction::Send);
        let sends: Vec<TransitionId> = sends.map(|send| send.id).collect();
        if sends.is_empty() {
            continue;
        }
        let begins_a_round = |edge: EdgeIndex| {
            let mut around = loops.iter().filter(|found| found.body.contains(state.index()));
            around.any(|found| found.again == edge)
        };
        let round = EdgeFiltered::from_fn(&graph, |edge| !begins_a_round(edge.id()));
        let mut before = Vec::new();
        depth_first_search(Reversed(&round), [node(state)], |event| {
            if let DfsEvent::Discover(reached, _) = event {
                let incoming = graph.edges_directed(reached, petgraph::Incoming);
                let receives = incoming.filter(|edge| {
                    direction(*edge.weight()) == Direction::Receive && !begins_a_round(edge.id())
                });
                before.extend(receives.map(|edge| *edge.weight()));
            }
        });
        found.extend(sends.into_iter().map(|send| (send, before.clone())));
    }
    found
}

fn loops(graph: &Graph, initial: NodeIndex) -> Vec<Loop> {
    let dominators = simple_fast(graph, initial);
    let is_back = |edge: &EdgeIndex| {
        graph.edge_endpoints(*edge).is_some_and(|(source, target)| {
            dominators.dominators(source).is_some_and(|mut all| all.any(|one| one == target))
        })
    };
    let natural = |again: EdgeIndex| {
        let (end, head) = graph.edge_endpoints(again)?;
        let mut body = FixedBitSet::with_capacity(graph.node_count());
        depth_first_search(Reversed(graph), [end], |event| match event {
            DfsEvent::Discover(reached, _) => {
                body.insert(reached.index());
                if reached == head { Control::<()>::Prune } else { Control::Continue }
            }
            _ => Control::Continue,
        });
        Some(Loop { again, body })
    };
    graph.edge_indices().filter(is_back).filter_map(natural).collect()
}
