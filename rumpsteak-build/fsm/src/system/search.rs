//! One search of a system under one bound: what is wrong with a configuration, and which sends the
//! bound holds back.

use super::partial_order::{Terminal, Visitor};
use super::{
    ChannelIndex, Continuations, Explorer, Failure, InternedSystem, MachineIndex, Move, Node, Run,
};
use crate::machine::digraph;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// All steps from each configuration.
    All { is_directed: bool },
    /// The steps of one machine where they suffice: see [`partial_order`](super::partial_order).
    OneMachine,
}

/// For each state, the channels from which its machine may still receive.
pub(super) fn listens(system: &InternedSystem<'_>) -> Continuations {
    let moves = |state| system.moves_from(state).map(move |by| (state, by));
    let edges = (0..system.states()).flat_map(moves);
    let edges = edges.map(|(state, by)| (state, system.get(by).target, by));
    let states = digraph(system.states() as usize, edges);
    Continuations::of(&states, system.channels(), |by| system.get(by).received(), |_| None)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) order: Order,
    /// The most messages in a queue.
    pub(super) bound: usize,
    pub(super) budget: usize,
    /// The most steps in a run.
    pub(super) depth: usize,
}

pub(super) struct Search<'a> {
    pub(super) explorer: Explorer<'a>,
    listens: &'a Continuations,
    scope: Scope,
    /// By configuration, true if some successors were not explored.
    is_open: Vec<bool>,
    pub(super) held_back: Vec<Node>,
    pub(super) longest: u32,
    /// The first configuration that is wrong whatever follows it; it ends the search.
    pub(super) wrong: Option<(Node, Failure)>,
}

impl<'a> Search<'a> {
    /// Starts a search; `listens` is the result of [`listens`].
    pub(super) fn new(
        interned: &'a InternedSystem<'a>,
        listens: &'a Continuations,
        scope: Scope,
    ) -> Self {
        Self {
            explorer: Explorer::new(interned, &interned.uniform(scope.bound), scope.budget),
            listens,
            scope,
            is_open: vec![],
            held_back: vec![],
            longest: 0,
            wrong: None,
        }
    }

    pub(super) fn all(&mut self) {
        let mut depths = vec![0];
        let mut node = 0;
        while (node as usize) < self.explorer.len() && self.enter(node) {
            let depth = depths[node as usize];
            if depth < self.scope.depth {
                self.expand_all(node);
            } else {
                self.is_open[node as usize] = true;
            }
            depths.resize(self.explorer.len(), depth + 1);
            node += 1;
        }
    }

    /// Finds what is wrong with a configuration whatever follows it. Nothing was wrong before the
    /// last step, which changed one machine and one queue.
    fn judge(&mut self, node: Node) -> Option<Failure> {
        let (explorer, listens) = (&self.explorer, self.listens);
        let system = explorer.system;
        if let Some((before, by)) = explorer.paths.step_to(node) {
            let by = system.get(by as usize);
            let channel = by.channel as ChannelIndex;
            self.longest = self.longest.max(explorer.held(node, channel));

            let (from, to) = system.ends[channel];
            let mut ends = [from, to];
            ends.sort_unstable();
            if let Some(failure) = ends.into_iter().find_map(|end| self.refuses(node, end)) {
                return Some(failure);
            }
            let mover = by.machine as MachineIndex;
            let given_up = listens
                .lost(Some(explorer.state(before, mover)), explorer.state(node, mover))
                .filter(|&channel| explorer.held(node, channel) > 0);
            let is_orphan = by.is_send && !listens.can(explorer.state(node, to), channel);
            if let Some(channel) = given_up.chain(is_orphan.then_some(channel)).min() {
                return Some(self.orphan(channel));
            }
        }
        let is_over = |machine| explorer.may_end(node, machine);
        let is_deadlock =
            explorer.ready(node).next().is_none() && !(0..system.machines()).all(is_over);
        is_deadlock.then_some(Failure::Deadlock)
    }

    /// The unspecified reception of a machine, if it waits and cannot take the head of any queue.
    fn refuses(&self, node: Node, machine: MachineIndex) -> Option<Failure> {
        let explorer = &self.explorer;
        let moves = explorer.options(node, machine);
        let first = moves.first()?;
        let is_refused = |by: &Move| {
            let head = explorer.head(node, by.channel as ChannelIndex);
            !by.is_send && head.is_some_and(|head| head != by.message)
        };
        moves.iter().all(is_refused).then(|| {
            let (from, to) = explorer.system.end_roles(first.channel as ChannelIndex);
            Failure::UnspecifiedReception { from, to }
        })
    }

    fn orphan(&self, channel: ChannelIndex) -> Failure {
        let (from, to) = self.explorer.system.end_roles(channel);
        Failure::Orphan { from, to }
    }

    fn hold_back(&mut self, node: Node) {
        self.is_open[node as usize] = true;
        if self.held_back.last() != Some(&node) {
            self.held_back.push(node);
        }
    }

    /// The event that a message is received from a channel. A machine's number is the event that it
    /// moves.
    fn receives(&self, channel: ChannelIndex) -> usize {
        self.explorer.system.machines() + channel
    }

    /// The event that some successors of a configuration were not explored.
    fn opens(&self) -> usize {
        self.receives(self.explorer.system.channels())
    }

    pub(super) fn continuations(&self) -> Continuations {
        let events = |by| {
            let by = self.explorer.system.get(by as usize);
            let received = by.received().map(|channel| self.receives(channel));
            received.into_iter().chain([by.machine as MachineIndex])
        };
        let opens = |node: Node| {
            let is_open = self.is_open.get(node as usize) != Some(&false);
            is_open.then_some(self.opens())
        };
        Continuations::of(&self.explorer.graph, self.opens() + 1, events, opens)
    }

    /// True if what was explored says all about the system: see the [module](super).
    pub(super) fn is_settled(&self, can: impl Fn(Node, usize) -> bool) -> bool {
        if self.explorer.is_truncated || self.wrong.is_some() {
            return false;
        }
        // A directed machine that is held back does not move until its one channel has room.
        let is_delayed =
            |&node: &Node| self.explorer.held_back(node).all(|sender| can(node, sender));
        let is_directed = self.scope.order == Order::All { is_directed: true };
        self.held_back.is_empty() || (is_directed && self.held_back.iter().all(is_delayed))
    }

    /// A search that finds a failure in fewer steps than `node` takes, if the budget allows.
    pub(super) fn shorter(
        &self,
        node: Node,
        budget: usize,
        queue: usize,
    ) -> Option<(Self, (Node, Failure))> {
        let steps = self.explorer.paths.to(node).len();
        if self.held_back.is_empty() || steps == 0 || self.scope.order == Order::OneMachine {
            return None;
        }
        let scope = Scope { bound: steps.min(queue), budget, depth: steps - 1, ..self.scope };
        let mut search = Self::new(self.explorer.system, self.listens, scope);
        search.all();
        let wrong = search.wrong.take()?;
        Some((search, wrong))
    }

    /// The events that cannot happen after a configuration, but could before its last step or
    /// belong to that step.
    pub(super) fn lost(
        &self,
        node: Node,
        continuations: &Continuations,
        settled: bool,
    ) -> impl Iterator<Item = usize> {
        let may_be_anything = |node| !settled && continuations.can(node, self.opens());
        let step = self.explorer.paths.step_to(node);
        let before = step.map(|(before, _)| before).filter(|&before| !may_be_anything(before));
        let by = step.map(|(_, by)| self.explorer.system.get(by as usize));
        let sent = by.filter(|by| by.is_send).map(|by| self.receives(by.channel as ChannelIndex));
        let sent = sent.filter(|&event| !continuations.can(node, event));
        let lost = (!may_be_anything(node)).then(|| continuations.lost(before, node).chain(sent));
        lost.into_iter().flatten()
    }

    /// The first configuration with a message at the head of a queue that is never received.
    pub(super) fn lost_message<E: Iterator<Item = usize>>(
        &self,
        lost: impl Fn(Node) -> E,
    ) -> Option<(Node, Failure)> {
        self.explorer.nodes().find_map(|node| {
            let channels = lost(node).filter_map(|event| event.checked_sub(self.receives(0)));
            let is_lost = |&channel: &ChannelIndex| {
                channel < self.explorer.system.channels() && self.explorer.held(node, channel) > 0
            };
            Some((node, self.orphan(channels.filter(is_lost).min()?)))
        })
    }

    /// The first configuration from which a waiting machine never moves.
    pub(super) fn starved<E: Iterator<Item = usize>>(
        &self,
        lost: impl Fn(Node) -> E,
    ) -> Option<(Node, Failure)> {
        let system = self.explorer.system;
        self.explorer.nodes().find_map(|node| {
            let starved = lost(node)
                .find(|&event| event < system.machines() && !self.explorer.may_end(node, event))?;
            Some((node, Failure::Starvation(system.role(starved))))
        })
    }

    pub(super) fn run(&self, (node, failure): (Node, Failure)) -> Option<Run> {
        let steps = self.explorer.system.steps(&self.explorer.paths.to(node));
        let run = Run::of(self.explorer.system.whole, steps, failure);
        debug_assert!(run.is_some(), "exploration and replay disagree");
        run
    }
}

impl Visitor for Search<'_> {
    fn explorer(&self) -> &Explorer<'_> {
        &self.explorer
    }

    fn enter(&mut self, node: Node) -> bool {
        if let Some(wrong) = self.judge(node) {
            self.wrong = Some((node, wrong));
            return false;
        }
        self.is_open.resize(self.explorer.len(), true);
        self.is_open[node as usize] = false;
        true
    }

    fn take(&mut self, node: Node, number: usize) {
        let by = *self.explorer.system.get(number);
        if self.explorer.is_enabled(node, &by) {
            self.is_open[node as usize] |= self.explorer.take(node, number).is_none();
        } else if by.is_send {
            self.hold_back(node);
        }
    }

    fn terminal(&mut self, root: Node, component: &Terminal) {
        if self.explorer.ready(root).any(|machine| !component.moved[machine]) {
            self.hold_back(root);
        }
    }

    fn is_ahead(&mut self, root: Node) {
        self.hold_back(root);
    }
}
