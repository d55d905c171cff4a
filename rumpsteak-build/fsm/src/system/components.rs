//! Strongly connected components: Tarjan's algorithm, without recursion, and over a graph that may
//! grow meanwhile. O(nodes + edges), besides what is done on the way.

use petgraph::Direction::Outgoing;
use petgraph::graph::{DiGraph, NodeIndex};

/// A node of a graph: of the explored ones a configuration, in the order in which they are met.
pub(crate) type Node = u32;

/// A [`Node`] as petgraph has it.
pub(crate) fn index(node: Node) -> NodeIndex {
    NodeIndex::new(node as usize)
}

/// No component yet.
pub(crate) const NONE: u32 = u32::MAX;

pub(crate) trait Walk {
    type Weight;

    fn graph(&self) -> &DiGraph<(), Self::Weight>;

    /// A node is met; its edges are looked at from now on. `None` ends the walk.
    fn enter(&mut self, _node: Node) -> Option<()> {
        Some(())
    }

    /// All that these nodes lead to is known, and they are a component; the first of them was met
    /// first. `component_of` numbers the components before it, to which alone it leads. With
    /// `false`, there are more edges from the first node. `None` ends the walk.
    fn complete(&mut self, members: &[Node], component_of: &[u32]) -> Option<bool>;
}

/// Walks through a graph from its first node on, and from those that this does not lead to; those
/// components first that lead to no other; the number of each node's component. `None` if the walk
/// was ended.
pub(crate) fn components(walk: &mut impl Walk) -> Option<Vec<u32>> {
    // By node: when it was met, from 1; the earliest that it leads to; its component.
    let (mut order, mut low, mut component_of) = (vec![], vec![], vec![]);
    let (mut met, mut component) = (0_u32, 0);
    let mut stack: Vec<Node> = vec![];
    // The nodes whose edges are looked at, each with the next of them, and where it stands on the
    // stack.
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

/// A graph that does not grow, and what is done with each component.
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
