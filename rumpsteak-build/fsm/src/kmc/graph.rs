//! Directed graphs that grow, and their strongly connected components.

/// A node, from 0.
pub(crate) type Node = u32;

/// No node, no edge.
pub(crate) const NONE: u32 = u32::MAX;

/// An edge with what it says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: Node,
    pub(crate) by: u32,
    /// The next edge of the same node, or [`NONE`].
    next: u32,
}

/// A graph whose nodes have lists of edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// By node: its first edge, or [`NONE`].
    first: Vec<u32>,
    edges: Vec<Edge>,
}

impl Graph {
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    pub(crate) fn add_node(&mut self) {
        self.first.push(NONE);
    }

    /// Adds an edge, which comes before the others of its node.
    pub(crate) fn add_edge(&mut self, from: Node, to: Node, by: u32) {
        let next = std::mem::replace(
            &mut self.first[from as usize],
            // Edges are no more than configurations times moves; memory ends before 2^32 of them.
            self.edges.len() as u32,
        );
        self.edges.push(Edge { to, by, next });
    }

    pub(crate) fn edges_from(&self, node: Node) -> impl Iterator<Item = Edge> {
        let mut at = self.first_edge(node);
        std::iter::from_fn(move || {
            let edge = *self.edges.get(at as usize)?;
            at = edge.next;
            Some(edge)
        })
    }

    /// The number of the node's edge that was added last, or [`NONE`].
    pub(crate) fn first_edge(&self, node: Node) -> u32 {
        self.first[node as usize]
    }

    pub(crate) fn edge(&self, edge: u32) -> Edge {
        self.edges[edge as usize]
    }

    pub(crate) fn next_edge(&self, edge: u32) -> u32 {
        self.edges[edge as usize].next
    }

    /// By node: the number of its strongly connected component, from 0; larger than those of the components that it
    /// leads to.
    ///
    /// Tarjan's algorithm, with its recursion on a stack of its own.
    pub(crate) fn components(&self) -> Vec<u32> {
        let count = self.len();
        let mut components = vec![NONE; count];
        let mut order = vec![NONE; count];
        let mut low = vec![NONE; count];
        let mut stack: Vec<Node> = vec![];
        let mut next_order = 0;
        let mut next_component = 0;
        // A node and the next of its edges.
        let mut frames: Vec<(Node, u32)> = vec![];
        for root in 0..count as Node {
            if order[root as usize] == NONE {
                frames.push((root, NONE));
            }
            while let Some((node, edge)) = frames.last_mut() {
                let node = *node;
                if order[node as usize] == NONE {
                    order[node as usize] = next_order;
                    low[node as usize] = next_order;
                    next_order += 1;
                    stack.push(node);
                    *edge = self.first_edge(node);
                }
                if *edge != NONE {
                    let to = self.edge(*edge).to;
                    *edge = self.next_edge(*edge);
                    if order[to as usize] == NONE {
                        frames.push((to, NONE));
                    } else if components[to as usize] == NONE {
                        low[node as usize] = low[node as usize].min(order[to as usize]);
                    }
                    continue;
                }
                if low[node as usize] == order[node as usize] {
                    while let Some(member) = stack.pop() {
                        components[member as usize] = next_component;
                        if member == node {
                            break;
                        }
                    }
                    next_component += 1;
                }
                frames.pop();
                if let Some(&(parent, _)) = frames.last() {
                    low[parent as usize] = low[parent as usize].min(low[node as usize]);
                }
            }
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_against_the_edges() {
        let mut graph = Graph::default();
        for _ in 0..6 {
            graph.add_node();
        }
        for (from, to) in [(0, 1), (1, 2), (2, 1), (2, 3), (4, 4), (0, 4), (5, 0)] {
            graph.add_edge(from, to, 0);
        }
        let components = graph.components();
        assert_eq!(components[1], components[2]);
        for node in 0..6 {
            for edge in graph.edges_from(node) {
                assert!(components[edge.to as usize] <= components[node as usize]);
            }
        }
        assert_eq!(components, [3, 2, 2, 1, 0, 4]);
    }
}
