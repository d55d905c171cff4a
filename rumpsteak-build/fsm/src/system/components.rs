//! Strongly connected components: Tarjan's algorithm without recursion, over a graph that may grow
//! meanwhile. O(nodes + edges).

use petgraph::Direction::Outgoing;
use petgraph::graph::{DiGraph, NodeIndex};

/// A node of a graph. The nodes of an explored graph are configurations, in the order of meeting.
pub(crate) type Node = u32;

pub(crate) fn index(node: Node) -> NodeIndex {
    NodeIndex::new(node as usize)
}

/// The component of a node that has none yet.
pub(crate) const NONE: u32 = u32::MAX;

pub(crate) trait Walk {
    type Weight;

    fn graph(&self) -> &DiGraph<(), Self::Weight>;

    /// Meets a node, before its edges are followed. `None` ends the walk.
    fn enter(&mut self, _node: Node) -> Option<()> {
        Some(())
    }

    /// Completes a component; the first of its nodes was met first. It only leads to the components
    /// before it, which `component_of` numbers. `false` if the first node has got more edges.
    /// `None` ends the walk.
    fn complete(&mut self, members: &[Node], component_of: &[u32]) -> Option<bool>;
}

/// Walks through all nodes of a graph, from the first one on; components that lead to no other are
/// completed first. Returns the component of each node. `None` if the walk was ended.
pub(crate) fn components(walk: &mut impl Walk) -> Option<Vec<u32>> {
    // By node: its order of meeting, from 1; the lowest order that it leads to; its component.
    let (mut order, mut low, mut component_of) = (vec![], vec![], vec![]);
    let (mut met, mut component) = (0_u32, 0);
    let mut stack: Vec<Node> = vec![];
    // The nodes whose edges are being followed, each with the next edge and its place on the stack.
    let mut open = vec![];
    let mut root: Node = 0;
    while (root as usize) < walk.graph().node_count() {
        let mut start = order.get(root as usize).is_none_or(|&met| met == 0).then_some(root);
        loop {
            if let Some(node) = start.take() {
                walk.enter(node)?;
                let count = walk.graph().node_count();
                order.resize(count, 0);
                low.resize(count, 0);
                component_of.resize(count, NONE);
                met += 1;
                (order[node as usize], low[node as usize]) = (met, met);
                open.push((node, walk.graph().first_edge(index(node), Outgoing), stack.len()));
                stack.push(node);
            }
            let Some(&mut (node, ref mut edge, height)) = open.last_mut() else { break };
            let graph = walk.graph();
            if let Some(at) = *edge {
                *edge = graph.next_edge(at, Outgoing);
                let to = graph.raw_edges()[at.index()].target().index();
                if order[to] == 0 {
                    start = Some(to as Node);
                } else if component_of[to] == NONE {
                    low[node as usize] = low[node as usize].min(order[to]);
                }
                continue;
            }
            let own = low[node as usize];
            if own == order[node as usize] {
                if !walk.complete(&stack[height..], &component_of)? {
                    *edge = walk.graph().first_edge(index(node), Outgoing);
                    order.resize(walk.graph().node_count(), 0);
                    continue;
                }
                for &member in &stack[height..] {
                    component_of[member as usize] = component;
                }
                stack.truncate(height);
                component += 1;
            }
            open.pop();
            if let Some(&(parent, ..)) = open.last() {
                low[parent as usize] = low[parent as usize].min(own);
            }
        }
        root += 1;
    }
    Some(component_of)
}

/// A graph that does not grow, and the function that completes each component.
pub(crate) struct Whole<'a, W, F>(pub(crate) &'a DiGraph<(), W>, pub(crate) F);

impl<W, F: FnMut(&[Node], &[u32]) -> Option<()>> Walk for Whole<'_, W, F> {
    type Weight = W;

    fn graph(&self) -> &DiGraph<(), W> {
        self.0
    }

    fn complete(&mut self, members: &[Node], component_of: &[u32]) -> Option<bool> {
        (self.1)(members, component_of).map(|()| true)
    }
}
