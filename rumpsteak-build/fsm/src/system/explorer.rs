//! The configurations of a system under bounds, and the explored steps between them.
//!
//! An [`Explorer`] takes one step at a time. The searches choose the order: breadth first
//! ([`explore`](super::explore), [`kmc`](crate::kmc) by definition) or one machine at a time
//! ([`partial_order`](super::partial_order)).

use std::iter;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::store::{ContentId, EMPTY, QueueContents, Variants};
use super::{ChannelIndex, InternedSystem, MachineIndex, Move, StateKind};
use crate::machine::StateId;
use crate::verdict::{Limit, Limits};

/// The most memory for rows, in 32-bit words: a quarter of a gigabyte. Only systems with hundreds
/// of roles or millions of configurations come near it.
pub(crate) const MOST_WORDS: usize = 1 << 26;
const MOST_STEPS: usize = 1 << 24;

/// A node of an explored graph. Nodes are configurations, in the order of meeting.
pub(crate) type Node = u32;

pub(crate) fn index(node: Node) -> NodeIndex {
    NodeIndex::new(node as usize)
}

/// The explored configurations; edges are moves.
pub(crate) type StepGraph = DiGraph<(), u32>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ExploredStep {
    pub(crate) to: Node,
    pub(crate) by: u32,
}

/// By node, the step by which it was met first; the initial node has none.
#[derive(Debug, Default)]
pub(crate) struct Paths<S = u32>(pub(crate) Vec<Option<(Node, S)>>);

impl<S: Copy> Paths<S> {
    pub(crate) fn step_to(&self, node: Node) -> Option<(Node, S)> {
        self.0[node as usize]
    }

    /// The steps from the initial configuration to this one, as it was met first.
    pub(crate) fn to(&self, node: Node) -> Vec<S> {
        let steps = iter::successors(self.step_to(node), |&(before, _)| self.step_to(before));
        let mut path: Vec<S> = steps.map(|(_, by)| by).collect();
        path.reverse();
        path
    }
}

/// The configurations met so far. Node 0 is the initial one.
#[derive(Debug)]
pub(crate) struct Explorer<'a> {
    pub(crate) system: &'a InternedSystem<'a>,
    bounds: Vec<u32>,
    contents: QueueContents,
    /// The state of each machine, the content of each channel, and a bit for each machine that is
    /// [ready](Self::ready).
    rows: Variants,
    pub(crate) graph: StepGraph,
    pub(crate) paths: Paths,
    /// True if a step was not taken because the budget was used up.
    pub(crate) is_truncated: bool,
}

/// The number of machines in a word of bits.
const BITS: usize = u32::BITS as usize;

impl<'a> Explorer<'a> {
    /// Starts with the initial configuration. There will be no more than `budget`.
    pub(crate) fn new(system: &'a InternedSystem<'a>, bounds: &[u32], budget: usize) -> Self {
        let mut row = system.initial.clone();
        row.resize(system.machines() + system.channels(), EMPTY);
        row.extend(system.initial.chunks(BITS).map(|states| {
            let sends = |&state: &u32| system.moves_from(state).any(|by| system.get(by).is_send);
            let bits = states.iter().enumerate().filter(|(_, state)| sends(state));
            bits.map(|(bit, _)| 1 << bit).sum::<u32>()
        }));
        let mut graph = StepGraph::with_capacity(32, 32);
        graph.add_node(());
        let mut parents = Vec::with_capacity(32);
        parents.push(None);
        Self {
            system,
            bounds: bounds.to_vec(),
            contents: QueueContents::new(),
            rows: Variants::new(&row, budget, MOST_WORDS),
            graph,
            paths: Paths(parents),
            is_truncated: false,
        }
    }

    /// Explores all configurations, until the budget is used up.
    pub(crate) fn all(system: &'a InternedSystem<'a>, bounds: &[u32], budget: usize) -> Self {
        let mut explorer = Self::new(system, bounds, budget);
        let mut node = 0;
        while (node as usize) < explorer.len() && !explorer.is_truncated {
            for word in 0..explorer.ready_words() {
                for machine in explorer.ready_of(node, word) {
                    explorer.expand(node, machine);
                }
            }
            node += 1;
        }
        explorer
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn nodes(&self) -> std::ops::Range<Node> {
        0..self.len() as Node
    }

    pub(crate) fn state(&self, node: Node, machine: MachineIndex) -> u32 {
        self.rows.word(node, machine)
    }

    /// The state of a machine, by the machine's own number.
    pub(crate) fn own_state(&self, node: Node, machine: MachineIndex) -> StateId {
        self.system.own_state(machine, self.state(node, machine))
    }

    pub(crate) fn kind(&self, node: Node, machine: MachineIndex) -> StateKind {
        self.system.kind(self.state(node, machine))
    }

    pub(crate) fn may_end(&self, node: Node, machine: MachineIndex) -> bool {
        self.system.may_end(self.state(node, machine))
    }

    fn content(&self, node: Node, channel: ChannelIndex) -> ContentId {
        self.rows.word(node, self.system.machines() + channel)
    }

    pub(crate) fn held(&self, node: Node, channel: ChannelIndex) -> u32 {
        self.contents.length(self.content(node, channel))
    }

    pub(crate) fn head(&self, node: Node, channel: ChannelIndex) -> Option<u32> {
        self.contents.head(self.content(node, channel))
    }

    pub(crate) fn is_full(&self, node: Node, channel: ChannelIndex) -> bool {
        self.held(node, channel) >= self.bounds[channel]
    }

    /// True if a move is possible for a machine in its source state.
    pub(crate) fn is_enabled(&self, node: Node, by: &Move) -> bool {
        let channel = by.channel as ChannelIndex;
        if by.is_send {
            !self.is_full(node, channel)
        } else {
            self.head(node, channel) == Some(by.message)
        }
    }

    pub(crate) fn moves(&self, node: Node, machine: MachineIndex) -> std::ops::Range<usize> {
        self.system.moves_from(self.state(node, machine))
    }

    /// The same moves, not their numbers.
    pub(crate) fn options(&self, node: Node, machine: MachineIndex) -> &'a [Move] {
        self.system.all_from(self.state(node, machine))
    }

    pub(crate) fn can_move(&self, node: Node, machine: MachineIndex) -> bool {
        self.options(node, machine).iter().any(|by| self.is_enabled(node, by))
    }

    /// The machines that can move, or could if the channels that they send to had room.
    pub(crate) fn ready(&self, node: Node) -> impl Iterator<Item = MachineIndex> {
        (0..self.ready_words()).flat_map(move |word| self.ready_of(node, word))
    }

    /// The number of words with [ready](Self::ready) bits.
    pub(crate) fn ready_words(&self) -> usize {
        self.system.machines().div_ceil(BITS)
    }

    /// The ready machines in one word.
    pub(crate) fn ready_of(&self, node: Node, word: usize) -> Bits {
        let at = self.system.machines() + self.system.channels() + word;
        Bits { first: word * BITS, bits: u64::from(self.rows.word(node, at)) }
    }

    /// True if the bounds hold back a send somewhere.
    pub(crate) fn is_held_back(&self) -> bool {
        self.nodes().any(|node| self.held_back(node).next().is_some())
    }

    /// The machines with a send that the bounds hold back.
    pub(crate) fn held_back(&self, node: Node) -> impl Iterator<Item = MachineIndex> {
        let is_held_back = move |by: &Move| by.is_send && !self.is_enabled(node, by);
        self.ready(node).filter(move |&own| self.options(node, own).iter().any(is_held_back))
    }

    /// Takes all possible steps of a machine, until the budget is used up.
    pub(crate) fn expand(&mut self, node: Node, machine: MachineIndex) {
        for number in self.moves(node, machine) {
            let by = *self.system.get(number);
            if self.is_enabled(node, &by) && self.take(node, number).is_none() {
                return;
            }
        }
    }

    /// Takes a possible move. `None` if the budget is used up.
    pub(crate) fn take(&mut self, node: Node, number: usize) -> Option<Node> {
        let has_room = self.graph.edge_count() < MOST_STEPS;
        let met = if has_room { self.after(node, number) } else { None };
        let Some((to, is_new)) = met else {
            self.is_truncated = true;
            return None;
        };
        if is_new {
            self.graph.add_node(());
            self.paths.0.push(Some((node, number as u32)));
        }
        self.graph.add_edge(index(node), index(to), number as u32);
        Some(to)
    }

    /// The configuration after a move, and true if it is new. `None` without room for it.
    fn after(&mut self, node: Node, number: usize) -> Option<(Node, bool)> {
        let by = self.system.get(number);
        let channel = by.channel as ChannelIndex;
        let before = self.content(node, channel);
        let content = match by.is_send {
            true => self.contents.push(before, by.message),
            false => self.contents.pop(before),
        };
        self.rows.copy(node);
        self.rows.set(by.machine as MachineIndex, by.target)?;
        self.rows.set(self.system.machines() + channel, content)?;
        self.set_ready(by.machine as MachineIndex)?;
        if by.is_send && before == EMPTY {
            self.set_ready(self.system.ends[channel].1)?;
        }
        self.rows.intern()
    }

    /// Updates the ready bit of a machine in the new row.
    fn set_ready(&mut self, machine: MachineIndex) -> Option<()> {
        let Self { system, contents, rows, .. } = self;
        let machines = system.machines();
        let head = |channel: u32| contents.head(rows.draft(machines + channel as ChannelIndex));
        let is_ready = |by: &Move| by.is_send || head(by.channel) == Some(by.message);
        let ready = system.all_from(rows.draft(machine)).iter().any(is_ready);
        let at = machines + system.channels() + machine / BITS;
        let (bits, bit) = (rows.draft(at), 1 << (machine % BITS));
        if ready == (bits & bit != 0) { Some(()) } else { rows.set(at, bits ^ bit) }
    }

    /// The limit that ended a search: the setting, or the number that fits into memory if that is
    /// less.
    pub(crate) fn limit(&self, budget: usize, limits: &Limits) -> Limit {
        let fits = self.is_truncated && self.len() < budget;
        Limit::Configurations(if fits { self.len() } else { limits.configurations })
    }

    /// The explored steps from a configuration, the last one first.
    pub(crate) fn steps_from(&self, node: Node) -> impl Iterator<Item = ExploredStep> {
        self.graph
            .edges(index(node))
            .map(|edge| ExploredStep { to: edge.target().index() as Node, by: *edge.weight() })
    }

    /// Takes these moves from the initial configuration. `None` if one is not possible.
    pub(crate) fn walk(&mut self, path: &[u32]) -> Option<Node> {
        path.iter().map(|&number| number as usize).try_fold(0, |node, number| {
            let by = self.system.get(number);
            let moves = self.moves(node, by.machine as MachineIndex);
            let is_possible = moves.contains(&number) && self.is_enabled(node, by);
            if is_possible { self.take(node, number) } else { None }
        })
    }
}

/// The events that can happen after each node of a graph.
///
/// One pass over the strongly connected components, successors first: an event can happen after a
/// component if it is on one of its edges or can happen where these lead.
pub(crate) struct Continuations {
    /// By node.
    component: Vec<u32>,
    /// By component, `width` words of bits.
    events: Vec<u64>,
    width: usize,
}

impl Continuations {
    /// Computes them for events below `count`; each edge has several, and each node at most one.
    pub(crate) fn of<W: Copy, E: IntoIterator<Item = usize>>(
        graph: &DiGraph<(), W>,
        count: usize,
        by_edge: impl Fn(W) -> E,
        at_node: impl Fn(Node) -> Option<usize>,
    ) -> Self {
        let width = count.div_ceil(64);
        let (components, component) = components(graph);
        let mut events = vec![0_u64; components.len() * width];
        let add = |happens: &mut [u64], event: usize| happens[event / 64] |= 1 << (event % 64);
        for (own, members) in components.into_iter().enumerate() {
            let (known, happens) = events.split_at_mut(own * width);
            // Numbers that stand for no event are never lost.
            if !count.is_multiple_of(64) {
                happens[width - 1] = u64::MAX << (count % 64);
            }
            for member in members {
                if let Some(event) = at_node(member.index() as Node) {
                    add(happens, event);
                }
                for edge in graph.edges(member) {
                    for event in by_edge(*edge.weight()) {
                        add(happens, event);
                    }
                    let next = component[edge.target().index()] as usize;
                    if next != own {
                        let words = &known[next * width..(next + 1) * width];
                        happens.iter_mut().zip(words).for_each(|(own, next)| *own |= next);
                    }
                }
            }
        }
        Self { component, events, width }
    }

    pub(crate) fn can(&self, node: Node, event: usize) -> bool {
        self.words(node)[event / 64] >> (event % 64) & 1 == 1
    }

    /// The events that can happen after a node, as bits.
    fn words(&self, node: Node) -> &[u64] {
        let start = self.component[node as usize] as usize * self.width;
        &self.events[start..start + self.width]
    }

    /// The events that cannot happen after `after` but can after `before`; without `before`, all
    /// that cannot. In order.
    pub(crate) fn lost(&self, before: Option<Node>, after: Node) -> impl Iterator<Item = usize> {
        let before = before.map(|before| self.words(before));
        self.words(after).iter().enumerate().flat_map(move |(index, after)| Bits {
            first: 64 * index,
            bits: before.map_or(u64::MAX, |before| before[index]) & !after,
        })
    }
}

/// The strongly connected components of a graph, each behind those that it leads to, and by node
/// the number of its component.
pub(crate) fn components<W>(graph: &DiGraph<(), W>) -> (Vec<Vec<NodeIndex>>, Vec<u32>) {
    let components = kosaraju_scc(graph);
    let mut component_of = vec![0; graph.node_count()];
    for (members, number) in components.iter().zip(0..) {
        members.iter().for_each(|member| component_of[member.index()] = number);
    }
    (components, component_of)
}

/// The positions of the set bits of a word.
pub(crate) struct Bits {
    /// The position of the lowest bit.
    first: usize,
    bits: u64,
}

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let bit = (self.bits != 0).then(|| self.bits.trailing_zeros() as usize)?;
        self.bits &= self.bits - 1;
        Some(self.first + bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::interned::digraph;

    #[test]
    fn what_can_happen_follows_the_edges() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (4, 4), (0, 4), (5, 0)];
        let graph = digraph(6, edges.iter().zip(0..).map(|(&(from, to), by)| (from, to, by)));
        let continuations = Continuations::of(&graph, edges.len(), |by| [by], |_| None);
        let continuations = &continuations;
        let can = |node| (0..edges.len()).filter(move |&event| continuations.can(node, event));
        let all: Vec<Vec<usize>> = (0..6).map(|node| can(node).collect()).collect();
        let from_0 = vec![0, 1, 2, 3, 4, 5];
        let from_5 = vec![0, 1, 2, 3, 4, 5, 6];
        assert_eq!(all, [from_0, vec![1, 2, 3], vec![1, 2, 3], vec![], vec![4], from_5]);
    }
}
