//! Exploring all of RS_k, and judging every property by its definition.

use super::{
    graph::{Edge, Node},
    net::{Channel, Kind, Machine, Net},
    space::{Fault, Space},
    taint::Taint,
};
use crate::{
    hashed::HashedMap,
    sorted::{self, SortedMap},
};

/// What the full exploration of a net found. Of each property: its first violation in breadth-first order.
#[derive(Debug)]
pub(crate) struct Full<'a> {
    pub(crate) space: Space<'a>,
    pub(crate) exhaustive: Option<(Node, Fault)>,
    pub(crate) progress: Option<(Node, Fault)>,
    pub(crate) reception: Option<(Node, Fault)>,
    pub(crate) obi: Option<(Node, Fault)>,
    pub(crate) ibi: Option<(Node, Fault)>,
    pub(crate) sibi: Option<(Node, Fault)>,
    /// Whether the bounds stopped some send. If not, this is all that the net can do under any bounds.
    pub(crate) hits_bounds: bool,
}

/// Sets of a fixed number of things, one set for each row.
struct Sets {
    blocks: usize,
    bits: Vec<u64>,
}

impl Sets {
    fn new(rows: usize, things: usize) -> Self {
        let blocks = things.div_ceil(64);
        Self {
            blocks,
            bits: vec![0; rows * blocks],
        }
    }

    fn insert(&mut self, row: usize, thing: usize) {
        self.bits[row * self.blocks + thing / 64] |= 1 << (thing % 64);
    }

    fn contains(&self, row: usize, thing: usize) -> bool {
        self.bits[row * self.blocks + thing / 64] & (1 << (thing % 64)) != 0
    }

    /// Adds all of row `other` to `row`.
    fn union(&mut self, row: usize, other: usize) {
        for block in 0..self.blocks {
            let added = self.bits[other * self.blocks + block];
            self.bits[row * self.blocks + block] |= added;
        }
    }
}

/// Explores a net under these bounds, and judges it if the budget suffices.
pub(crate) fn explore<'a>(net: &'a Net, bounds: &'a [u32], budget: usize) -> Full<'a> {
    let mut space = Space::new(net, bounds, budget);
    let mut node: Node = 0;
    while (node as usize) < space.len() && !space.is_truncated {
        for machine in 0..net.machines() {
            space.expand(node, machine);
        }
        node += 1;
    }
    let mut full = Full {
        space,
        exhaustive: None,
        progress: None,
        reception: None,
        obi: None,
        ibi: None,
        sibi: None,
        hits_bounds: false,
    };
    if !full.space.is_truncated {
        full.judge();
    }
    full
}

impl Full<'_> {
    fn judge(&mut self) {
        let space = &self.space;
        let net = space.net;
        let components = space.graph.components();
        let count = components
            .iter()
            .max()
            .map_or(0, |&largest| largest as usize + 1);

        // What can happen from a component on: a machine moves, a channel's head is received, a competing message
        // is sent.
        let competing = Competing::of(net);
        let moves = |machine: Machine| machine;
        let receives = |channel: Channel| net.machines() + channel;
        let sends = |index: usize| net.machines() + net.channels() + index;
        let mut future = Sets::new(count, sends(competing.messages.len()));
        // A component's number is larger than the numbers of those that it leads to.
        let (_, by_component) = sorted::grouped(&components, count);
        for &node in &by_component {
            let own = components[node as usize] as usize;
            for edge in space.edges_from(node) {
                let by = net.get(edge.by as usize);
                future.insert(own, moves(by.machine as Machine));
                if !by.is_send {
                    future.insert(own, receives(by.channel as Channel));
                } else if let Some(index) = competing.index(by.channel, by.message) {
                    future.insert(own, sends(index));
                }
                let to = components[edge.to as usize] as usize;
                if to != own {
                    future.union(own, to);
                }
            }
        }
        let can =
            |node: Node, thing: usize| future.contains(components[node as usize] as usize, thing);

        let mut reach = Reach::new(space);
        for node in 0..space.len() as Node {
            for channel in 0..net.channels() {
                if space.held(node, channel) > 0 && !can(node, receives(channel)) {
                    self.reception = self.reception.or(Some((node, Fault::Lost(channel))));
                }
            }
            for machine in 0..net.machines() {
                let kind = space.kind(node, machine);
                if kind.receives_only() && !can(node, moves(machine)) {
                    self.progress = self.progress.or(Some((node, Fault::Waits(machine))));
                }
                if let Kind::Final | Kind::Receives(_) = kind {
                    continue;
                }
                let mut enabled: Option<usize> = None;
                let mut blocked: Option<usize> = None;
                let mut received: Option<usize> = None;
                for number in space.moves(node, machine) {
                    let by = net.get(number);
                    if !by.is_send {
                        if !space.is_enabled(node, by) {
                            continue;
                        }
                        match received {
                            Some(first) if net.get(first).channel != by.channel => {
                                let fault = Fault::Competing(first, number);
                                self.ibi = self.ibi.or(Some((node, fault)));
                            }
                            _ => received = Some(number),
                        }
                        continue;
                    }
                    let channel = by.channel as Channel;
                    if !space.is_full(node, channel) {
                        enabled = enabled.or(Some(number));
                        continue;
                    }
                    blocked = blocked.or(Some(number));
                    self.hits_bounds = true;
                    if self.exhaustive.is_some() {
                        continue;
                    }
                    // A machine with one channel cannot move itself before the channel has room.
                    let gets_room = match kind {
                        Kind::Sends(_) => can(node, receives(channel)),
                        _ => {
                            can(node, receives(channel))
                                && reach.without(machine, channel)[node as usize]
                        }
                    };
                    if !gets_room {
                        self.exhaustive = Some((node, Fault::Blocked(number)));
                    }
                }
                if let (Some(enabled), Some(blocked)) = (enabled, blocked) {
                    let fault = Fault::Partial(enabled, blocked);
                    self.obi = self.obi.or(Some((node, fault)));
                }
            }
            if self.sibi.is_none() {
                self.sibi =
                    competing.overtaken(space, node, |after, index| can(after, sends(index)));
            }
        }
    }

    /// k-CIBI, which matters where k-SIBI fails: after a reception, a competing message is sent by somebody who does
    /// not depend on the reception. `Err` if more than `budget` configurations were needed.
    ///
    /// A search of RS_k together with who depends on the reception: at first the receiver; then whoever receives a
    /// message that was sent by somebody who depended on it. These messages are the last ones of a channel, so that
    /// the number of the others says which they are.
    pub(crate) fn chain(&self, budget: usize) -> Result<Option<(Node, Fault)>, usize> {
        let space = &self.space;
        let net = space.net;
        let competing = Competing::of(net);
        let mut used = 0;
        for node in 0..space.len() as Node {
            if let Some(fault) = competing.overtaken(space, node, |_, _| false) {
                return Ok(Some(fault));
            }
        }
        // One search for all receptions by one machine in one state from one channel: they compete with the same
        // messages.
        let mut groups: SortedMap<(Machine, u32, u32), Vec<(Node, Edge)>> = SortedMap::new();
        for node in 0..space.len() as Node {
            for edge in space.edges_from(node) {
                let by = net.get(edge.by as usize);
                let machine = by.machine as Machine;
                if !by.is_send && space.kind(node, machine) == Kind::ReceivesAny {
                    let state = space.state(node, machine);
                    let group = groups.or_default((machine, state, by.channel));
                    group.push((node, edge));
                }
            }
        }
        for ((machine, state, channel), receptions) in groups {
            let rivals: Vec<usize> = net
                .moves_from(state)
                .filter(|&number| net.get(number).channel != channel)
                .collect();
            let mut taint = Taint::new(space, budget.saturating_sub(used));
            // By start: which reception it is.
            let mut starts: HashedMap<u32, (Node, Edge)> = HashedMap::new();
            for (node, edge) in receptions {
                if let Some((start, true)) = taint.start(edge.to, machine) {
                    starts.insert(start, (node, edge));
                }
            }
            let mut at = 0;
            while let Some(from) = taint.node(at) {
                for edge in space.edges_from(from) {
                    let by = net.get(edge.by as usize);
                    let rival = rivals.iter().find(|&&rival| {
                        let rival = net.get(rival);
                        by.is_send && (rival.channel, rival.message) == (by.channel, by.message)
                    });
                    if let Some(&rival) = rival
                        && !taint.depends(at, by.machine as Machine)
                        && let Some(&(node, received)) = starts.get(&taint.start_of(at))
                    {
                        let fault = Fault::Competing(received.by as usize, rival);
                        return Ok(Some((node, fault)));
                    }
                    taint.step(at, edge);
                }
                if taint.is_truncated {
                    return Err(used + taint.len());
                }
                at += 1;
            }
            used += taint.len();
        }
        Ok(None)
    }
}

/// The messages that some machine may receive from one channel while it may receive from another.
struct Competing {
    /// Channel and message, in order.
    messages: Vec<(u32, u32)>,
}

impl Competing {
    fn of(net: &Net) -> Self {
        let mut messages = vec![];
        for state in 0..net.states() {
            if net.kind(state) == Kind::ReceivesAny {
                messages.extend(net.moves_from(state).map(|number| {
                    let by = net.get(number);
                    (by.channel, by.message)
                }));
            }
        }
        sorted::sort(&mut messages);
        messages.dedup();
        Self { messages }
    }

    fn index(&self, channel: u32, message: u32) -> Option<usize> {
        self.messages.binary_search(&(channel, message)).ok()
    }

    /// A reception in `node` that another one competes with: now, or after it, where `sent(after, message)`.
    fn overtaken(
        &self,
        space: &Space<'_>,
        node: Node,
        sent: impl Fn(Node, usize) -> bool,
    ) -> Option<(Node, Fault)> {
        if self.messages.is_empty() {
            return None;
        }
        let net = space.net;
        for edge in space.edges_from(node) {
            let by = net.get(edge.by as usize);
            let machine = by.machine as Machine;
            if by.is_send || space.kind(node, machine) != Kind::ReceivesAny {
                continue;
            }
            for number in space.moves(node, machine) {
                let rival = net.get(number);
                let competes = rival.channel != by.channel
                    && (space.is_enabled(node, rival)
                        || self
                            .index(rival.channel, rival.message)
                            .is_some_and(|index| sent(edge.to, index)));
                if competes {
                    return Some((node, Fault::Competing(edge.by as usize, number)));
                }
            }
        }
        None
    }
}

/// From where a channel's head can be received without a machine's moving, found backwards and kept.
struct Reach<'a, 'b> {
    space: &'a Space<'b>,
    /// Edges by target: offsets, then sources and moves.
    offsets: Vec<u32>,
    sources: Vec<(Node, u32)>,
    known: HashedMap<(Machine, Channel), Vec<bool>>,
}

impl<'a, 'b> Reach<'a, 'b> {
    fn new(space: &'a Space<'b>) -> Self {
        Self {
            space,
            offsets: vec![],
            sources: vec![],
            known: HashedMap::new(),
        }
    }

    fn without(&mut self, machine: Machine, channel: Channel) -> &[bool] {
        if self.offsets.is_empty() {
            self.reverse();
        }
        let Self {
            space,
            offsets,
            sources,
            known,
        } = self;
        known.or_insert_with((machine, channel), || {
            let mut reaches = vec![false; space.len()];
            let mut open = vec![];
            for node in 0..space.len() as Node {
                let receives = |edge: Edge| {
                    let by = space.net.get(edge.by as usize);
                    !by.is_send && by.channel as Channel == channel
                };
                if space.edges_from(node).any(receives) {
                    reaches[node as usize] = true;
                    open.push(node);
                }
            }
            while let Some(node) = open.pop() {
                let range = offsets[node as usize] as usize..offsets[node as usize + 1] as usize;
                for &(source, by) in &sources[range] {
                    if space.net.get(by as usize).machine as Machine != machine
                        && !std::mem::replace(&mut reaches[source as usize], true)
                    {
                        open.push(source);
                    }
                }
            }
            reaches
        })
    }

    fn reverse(&mut self) {
        let space = self.space;
        let nodes = || 0..space.len() as Node;
        self.offsets = vec![0; space.len() + 1];
        for edge in nodes().flat_map(|node| space.edges_from(node)) {
            self.offsets[edge.to as usize + 1] += 1;
        }
        for index in 1..self.offsets.len() {
            self.offsets[index] += self.offsets[index - 1];
        }
        let mut fill = self.offsets.clone();
        self.sources = vec![(0, 0); space.graph.edge_count()];
        for node in nodes() {
            for edge in space.edges_from(node) {
                let slot = &mut fill[edge.to as usize];
                self.sources[*slot as usize] = (node, edge.by);
                *slot += 1;
            }
        }
    }
}
