//! Exploring a directed system one machine at a time.
//!
//! # What is left out
//!
//! In a directed system every state of a machine has one channel. Whatever the others do, a machine
//! that can move stays able to move, by the same moves: only it takes from the channel that it
//! receives from, and only it fills the channel that it sends to. Moves of different machines
//! commute. So in each configuration it is enough to let *one* machine move, in all its ways:
//!
//! ```text
//!   all of RS_k                        reduced
//!   ●──a!──●──a!──●                    ●──a!──●──a!──●
//!   │      │      │                                  │
//!   b!     b!     b!                                 b!
//!   │      │      │                                  │
//!   ●──a!──●──a!──●                                  ●
//! ```
//!
//! The others move later, and later must come. In a terminal strongly connected component of the
//! reduced graph that never moves a machine which could move, that machine is let move from the
//! component's root, and the search goes on.
//!
//! # Why it gives the same answers
//!
//! *(E)* For a configuration r of the reduced graph and a run φ of RS_k from r to s there is a run
//! ψ from s such that φψ, after swapping neighbouring moves of different machines that do not
//! depend on each other, is a run of the reduced graph. By induction on the length of φ: along a
//! reduced run from r that comes to a machine that moves first in φ (there is one, because it stays
//! able to move and nothing is left out for ever), let m be the machine chosen. If m moves in φ,
//! its first move there is one of those explored, and is swapped to the front. If not, its move is
//! appended to s, which it does not disable.
//!
//! The three properties say that from every configuration something can still happen: a machine
//! that waits moves (progress), one that is blocked moves (exhaustivity: only others empty its one
//! channel), a head is received (reception). If it cannot happen from s it cannot happen from where
//! ψ leads; if it can happen from r by φ, it happens in φψ, so on a reduced run from r. What can
//! happen from a configuration can happen in all terminal components below, or not at all; so
//! looking at these is enough. There, a machine that does not move never will.
//!
//! Cost: O(configurations · machines) time; every component is looked at once more for each machine
//! left out.

use petgraph::{Direction::Outgoing, graph::EdgeIndex};

use super::violation::{Explored, Violation, Violations, definite, first_definite};
use crate::system::{
    explorer::{Explorer, Node, index},
    interned::{InternedSystem, StateKind},
};

/// No number, order or component yet.
const NONE: u32 = u32::MAX;

struct Search<'a> {
    explorer: Explorer<'a>,
    found: Violations,
    /// By node: the number of its strongly connected component. A component's number is larger than
    /// those that it leads to.
    components: Vec<u32>,
}

struct Frame {
    node: Node,
    /// The next of its edges to look at.
    edge: Option<EdgeIndex>,
    /// Where it stands on the stack of nodes without a component.
    height: usize,
}

/// Explores a directed system under these bounds.
pub(crate) fn explore<'a>(
    system: &'a InternedSystem,
    bounds: &'a [u32],
    budget: usize,
) -> Explored<'a> {
    let mut search = Search {
        explorer: Explorer::new(system, bounds, budget),
        found: Violations::default(),
        components: vec![],
    };
    search.run();
    let Search {
        explorer,
        mut found,
        ..
    } = search;
    if explorer.is_truncated {
        // All that was found is real.
        found.definite = first_definite(&explorer);
    }
    // Of OBI, IBI, SIBI and CIBI there is no violation: each state has one channel, so whatever is
    // possible or blocked is so altogether.
    Explored {
        explorer,
        found,
        hits_bounds: true,
    }
}

impl Search<'_> {
    /// Tarjan's algorithm over the graph as it is made.
    fn run(&mut self) {
        let mut order: Vec<u32> = vec![];
        let mut low: Vec<u32> = vec![];
        let mut next_order = 0;
        let mut stack: Vec<Node> = vec![];
        let mut frames: Vec<Frame> = vec![];
        let mut component = 0;
        let mut start = Some(0);
        loop {
            if let Some(node) = start.take() {
                if let Some(machine) = self.choose(node) {
                    self.explorer.expand(node, machine);
                }
                order.resize(self.explorer.len(), NONE);
                low.resize(self.explorer.len(), NONE);
                self.components.resize(self.explorer.len(), NONE);
                order[node as usize] = next_order;
                low[node as usize] = next_order;
                next_order += 1;
                frames.push(Frame {
                    node,
                    edge: self.explorer.graph.first_edge(index(node), Outgoing),
                    height: stack.len(),
                });
                stack.push(node);
            }
            if self.explorer.is_truncated {
                return;
            }
            let Some(frame) = frames.last_mut() else {
                return;
            };
            let node = frame.node;
            if let Some(edge) = frame.edge {
                let graph = &self.explorer.graph;
                frame.edge = graph.next_edge(edge, Outgoing);
                let to = graph.raw_edges()[edge.index()].target().index() as Node;
                if order[to as usize] == NONE {
                    start = Some(to);
                } else if self.components[to as usize] == NONE {
                    low[node as usize] = low[node as usize].min(order[to as usize]);
                }
                continue;
            }
            if low[node as usize] == order[node as usize] {
                let members = &stack[frame.height..];
                if let Some(machine) = self.finish(members) {
                    self.explorer.expand(node, machine);
                    // `low` and the components are asked for where a search has begun, which makes
                    // room for them.
                    order.resize(self.explorer.len(), NONE);
                    frame.edge = self.explorer.graph.first_edge(index(node), Outgoing);
                    continue;
                }
                for &member in members {
                    self.components[member as usize] = component;
                }
                component += 1;
                stack.truncate(frame.height);
            }
            frames.pop();
            if let Some(parent) = frames.last() {
                let parent = parent.node as usize;
                low[parent] = low[parent].min(low[node as usize]);
            }
        }
    }

    /// The machine to move: one that receives, because it has one way to, before one that sends.
    fn choose(&self, node: Node) -> Option<usize> {
        let mut sender = None;
        for machine in 0..self.explorer.system.machines() {
            match self.explorer.kind(node, machine) {
                StateKind::Final => {}
                StateKind::Sends(channel) => {
                    if sender.is_none() && !self.explorer.is_full(node, channel as usize) {
                        sender = Some(machine);
                    }
                }
                _ => {
                    if self.explorer.can_move(node, machine) {
                        return Some(machine);
                    }
                }
            }
        }
        sender
    }

    /// Judges a component, whose root is its first member, if nothing leaves it. Returns a machine
    /// that was left out of it.
    fn finish(&mut self, members: &[Node]) -> Option<usize> {
        let explorer = &self.explorer;
        let system = explorer.system;
        let root = members[0];
        let mut moved = vec![false; system.machines()];
        let mut popped = vec![false; system.channels()];
        for &member in members {
            for step in explorer.steps_from(member) {
                if self.components[step.to as usize] != NONE {
                    return None;
                }
                let by = system.get(step.by as usize);
                moved[by.machine as usize] = true;
                popped[by.channel as usize] |= !by.is_send;
            }
        }
        // Who does not move here is in one state throughout, and can move throughout or nowhere.
        let still = |&machine: &usize| !moved[machine];
        let left_out = (0..system.machines())
            .filter(still)
            .find(|&machine| explorer.can_move(root, machine));
        if left_out.is_some() {
            return left_out;
        }

        let mut blocked = None;
        let mut waits = None;
        for machine in (0..system.machines()).filter(still) {
            match explorer.kind(root, machine) {
                StateKind::Final => {}
                StateKind::Sends(_) => {
                    let first = explorer.moves(root, machine).start;
                    blocked = blocked.or(Some((root, Violation::Blocked(first))));
                }
                _ => waits = waits.or(Some((root, Violation::Waits(machine)))),
            }
        }
        let lost = (0..system.channels())
            .find(|&channel| !popped[channel] && explorer.held(root, channel) > 0)
            .map(|channel| (root, Violation::Lost(channel)));
        // Without a blocked machine the system is exhaustive from here on, and what does not happen
        // under these bounds does not happen under any.
        let definite = match blocked {
            None => waits.or(lost),
            Some(_) => definite(explorer, root).map(|fault| (root, fault)),
        };
        let found = &mut self.found;
        found.exhaustive = found.exhaustive.or(blocked);
        found.progress = found.progress.or(waits);
        found.reception = found.reception.or(lost);
        found.definite = found.definite.or(definite);
        None
    }
}
