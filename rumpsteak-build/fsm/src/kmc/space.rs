//! Configurations of a net under bounds, and the steps between them that were explored.

use super::{
    graph::{Edge, Graph, NONE, Node},
    net::{Channel, Kind, Machine, Move, Net},
    store::{EMPTY, Rows, Word, Words},
};

/// The most memory that rows may take, in words of 32 bits: a quarter of a gigabyte. Only systems of hundreds of roles
/// come near it.
const MOST_WORDS: usize = 1 << 26;
/// The most edges.
const MOST_EDGES: usize = 1 << 24;

/// A property of one configuration that something is wrong with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// The machine waits for a message for ever.
    Waits(Machine),
    /// The channel's head is received in no continuation.
    Lost(Channel),
    /// The move is a send that stays blocked until its machine moves otherwise, which may be never.
    Blocked(usize),
    /// The first move is a send that is possible, the second one of the same machine that is blocked.
    Partial(usize, usize),
    /// Both moves are receptions of one machine from different channels; the first is possible, and the second is
    /// now or can be after the first.
    Competing(usize, usize),
}

/// The explored part of RS_k, or of a reduction of it.
#[derive(Debug)]
pub(crate) struct Space<'a> {
    pub(crate) net: &'a Net,
    /// The most messages of each channel.
    bounds: &'a [u32],
    words: Words,
    /// The state of each machine, then the content of each channel.
    rows: Rows,
    /// An edge says by which move.
    pub(crate) graph: Graph,
    /// By node: how it was found, from where and by which move.
    parents: Vec<(Node, u32)>,
    /// Configurations may not be more than this, which is below 2^32.
    budget: usize,
    /// Whether the budget was too small.
    pub(crate) is_truncated: bool,
    scratch: Vec<u32>,
}

impl<'a> Space<'a> {
    /// Only the initial configuration, which is node 0.
    pub(crate) fn new(net: &'a Net, bounds: &'a [u32], budget: usize) -> Self {
        let width = net.machines() + net.channels();
        let mut row = net.initial.clone();
        row.resize(width, EMPTY);
        let mut rows = Rows::new(width);
        rows.intern(&row);
        let mut graph = Graph::default();
        graph.add_node();
        Self {
            net,
            bounds,
            words: Words::new(),
            rows,
            graph,
            parents: vec![(NONE, NONE)],
            budget: budget.clamp(1, MOST_WORDS / width.max(1)),
            is_truncated: false,
            scratch: row,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn state(&self, node: Node, machine: Machine) -> u32 {
        self.rows.row(node)[machine]
    }

    pub(crate) fn kind(&self, node: Node, machine: Machine) -> Kind {
        self.net.kind(self.state(node, machine))
    }

    pub(crate) fn word(&self, node: Node, channel: Channel) -> Word {
        self.rows.row(node)[self.net.machines() + channel]
    }

    /// How many messages the channel holds.
    pub(crate) fn held(&self, node: Node, channel: Channel) -> u32 {
        self.words.length(self.word(node, channel))
    }

    pub(crate) fn is_full(&self, node: Node, channel: Channel) -> bool {
        self.held(node, channel) >= self.bounds[channel]
    }

    /// Whether the move, of a machine that is in its source, is possible.
    pub(crate) fn is_enabled(&self, node: Node, by: &Move) -> bool {
        let channel = by.channel as Channel;
        match by.is_send {
            true => !self.is_full(node, channel),
            false => self.words.head(self.word(node, channel)) == Some(by.message),
        }
    }

    /// The numbers of the machine's moves.
    pub(crate) fn moves(&self, node: Node, machine: Machine) -> std::ops::Range<usize> {
        self.net.moves_from(self.state(node, machine))
    }

    pub(crate) fn can_move(&self, node: Node, machine: Machine) -> bool {
        self.moves(node, machine)
            .any(|by| self.is_enabled(node, self.net.get(by)))
    }

    /// Takes all possible steps of a machine.
    pub(crate) fn expand(&mut self, node: Node, machine: Machine) {
        for number in self.moves(node, machine) {
            let by = *self.net.get(number);
            if !self.is_enabled(node, &by) {
                continue;
            }
            if self.take(node, number).is_none() {
                return;
            }
        }
    }

    /// Takes a move that is possible; `None` if the budget does not suffice.
    fn take(&mut self, node: Node, number: usize) -> Option<Node> {
        if self.rows.len() >= self.budget || self.graph.edge_count() >= MOST_EDGES {
            // A known configuration would cost nothing, but the graph is of no use any more.
            self.is_truncated = true;
            return None;
        }
        let by = self.net.get(number);
        self.scratch.clear();
        self.scratch.extend_from_slice(self.rows.row(node));
        self.scratch[by.machine as Machine] = by.target;
        let content = &mut self.scratch[self.net.machines() + by.channel as Channel];
        *content = match by.is_send {
            true => self.words.push(*content, by.message),
            false => self.words.pop(*content),
        };
        let (to, is_new) = self.rows.intern(&self.scratch);
        if is_new {
            self.graph.add_node();
            self.parents.push((node, number as u32));
        }
        self.graph.add_edge(node, to, number as u32);
        Some(to)
    }

    pub(crate) fn edges_from(&self, node: Node) -> impl Iterator<Item = Edge> {
        self.graph.edges_from(node)
    }

    /// The moves that lead from the initial configuration to this one, as it was found.
    pub(crate) fn path(&self, node: Node) -> Vec<u32> {
        let mut path = vec![];
        let mut at = node;
        while let Some(&(parent, by)) = self.parents.get(at as usize) {
            if parent == NONE {
                break;
            }
            path.push(by);
            at = parent;
        }
        path.reverse();
        path
    }

    /// Takes these moves one after the other from the initial configuration; `None` if one is not possible.
    pub(crate) fn walk(&mut self, path: &[u32]) -> Option<Node> {
        let mut node = 0;
        for &number in path {
            let by = *self.net.get(number as usize);
            let is_there = self
                .moves(node, by.machine as Machine)
                .contains(&(number as usize));
            if !is_there || !self.is_enabled(node, &by) {
                return None;
            }
            node = self.take(node, number as usize)?;
        }
        Some(node)
    }

    /// Something that is wrong in this configuration and in all that follow it, whatever the bounds: a machine is
    /// [stuck](Self::stuck), or a message is left for a machine that is finished.
    pub(crate) fn definite_fault(&self, node: Node) -> Option<Fault> {
        let stuck = self.stuck(node);
        if let Some(machine) = stuck.iter().position(|&stuck| stuck) {
            return Some(Fault::Waits(machine));
        }
        let lost = |&channel: &Channel| {
            self.held(node, channel) > 0 && self.kind(node, self.net.ends[channel].1) == Kind::Final
        };
        (0..self.net.channels()).find(lost).map(Fault::Lost)
    }

    /// The machines that never move again, because they wait for each other, for finished machines, and behind
    /// messages that they cannot take.
    ///
    /// The largest set D of machines that wait and of which each, on every channel that it listens to, finds a message
    /// that it cannot take, or nothing and a sender that is finished or in D. The first of D to move would need
    /// a message that only D or a finished machine could send; so none ever moves.
    pub(crate) fn stuck(&self, node: Node) -> Vec<bool> {
        let net = self.net;
        let mut stuck: Vec<bool> = (0..net.machines())
            .map(|machine| {
                self.kind(node, machine).receives_only() && !self.can_move(node, machine)
            })
            .collect();
        loop {
            let mut changed = false;
            for machine in 0..net.machines() {
                if !stuck[machine] {
                    continue;
                }
                let hopeless = |by: usize| {
                    let channel = net.get(by).channel as Channel;
                    let sender = net.ends[channel].0;
                    self.held(node, channel) > 0
                        || stuck[sender]
                        || self.kind(node, sender) == Kind::Final
                };
                if !self.moves(node, machine).all(hopeless) {
                    stuck[machine] = false;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        stuck
    }
}
