//! One search of a system under one bound: what is wrong with a configuration, and what is left
//! out.

use super::composition::System;
use super::explorer::{Continuations, Explorer, Node, StepGraph, index};
use super::interned::{ChannelIndex, InternedSystem, MachineIndex, Move};
use super::partial_order::{Terminal, Visitor};
use super::run::{Failure, Run};

/// Which steps are taken from a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// All.
    All {
        /// Whether each state of each machine sends to one peer or receives from one.
        is_directed: bool,
    },
    /// Those of one machine, where they say enough.
    OneMachine,
}

/// By state, the channels that its machine may receive from at some time from there on.
pub(super) fn listens(system: &InternedSystem) -> Continuations {
    let states = system.states() as usize;
    let mut states = StepGraph::with_capacity(states, 2 * states);
    for _ in 0..system.states() {
        states.add_node(());
    }
    for state in 0..system.states() {
        for by in system.moves_from(state) {
            let target = system.get(by).target;
            states.add_edge(index(state), index(target), by as u32);
        }
    }
    let received = |by| {
        let by = system.get(by);
        (!by.is_send).then_some(by.channel as ChannelIndex)
    };
    Continuations::of(&states, system.channels(), received, |_| None)
}

/// What a search explores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) order: Order,
    /// The most messages of a queue.
    pub(super) bound: usize,
    /// The most configurations.
    pub(super) budget: usize,
    /// The most steps of a run.
    pub(super) deepest: usize,
}

pub(super) struct Search<'a> {
    system: &'a System,
    pub(super) explorer: Explorer<'a>,
    listens: &'a Continuations,
    scope: Scope,
    /// Whether the successors of a configuration were not all explored.
    is_open: Vec<bool>,
    /// The configurations in which the bound held a send back.
    pub(super) held_back: Vec<Node>,
    /// The most messages that a channel held.
    pub(super) longest: u32,
    /// The first configuration that is wrong by itself, which ends the search.
    pub(super) wrong: Option<(Node, Failure)>,
}

impl<'a> Search<'a> {
    /// Nothing is explored yet. `listens` is [that](listens) of the system.
    pub(super) fn new(
        system: &'a System,
        interned: &'a InternedSystem,
        listens: &'a Continuations,
        scope: Scope,
    ) -> Self {
        Self {
            system,
            explorer: Explorer::new(interned, &interned.uniform(scope.bound), scope.budget),
            listens,
            scope,
            is_open: vec![],
            held_back: vec![],
            longest: 0,
            wrong: None,
        }
    }

    /// Takes all steps from all configurations, breadth first.
    pub(super) fn all(&mut self) {
        let mut depths = vec![0];
        let mut node = 0;
        while (node as usize) < self.explorer.len() && self.enter(node) {
            let depth = depths[node as usize];
            if depth < self.scope.deepest {
                self.expand_all(node);
            } else {
                self.is_open[node as usize] = true;
            }
            depths.resize(self.explorer.len(), depth + 1);
            node += 1;
        }
    }

    /// What is wrong with a configuration whatever follows it.
    ///
    /// Nothing was wrong before the last step, which changed the mover and one queue.
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

    /// Whether a machine waits, and finds a message that it cannot take wherever it listens.
    fn refuses(&self, node: Node, machine: MachineIndex) -> Option<Failure> {
        let explorer = &self.explorer;
        let mut moves = explorer.moves(node, machine).map(|by| explorer.system.get(by));
        let first = moves.clone().next()?;
        let is_refused = |by: &Move| {
            let head = explorer.head(node, by.channel as ChannelIndex);
            !by.is_send && head.is_some_and(|head| head != by.message)
        };
        moves.all(is_refused).then(|| {
            let ends = explorer.system.end_roles(self.system, first.channel as ChannelIndex);
            let (from, to) = ends;
            Failure::UnspecifiedReception { from, to }
        })
    }

    fn orphan(&self, channel: ChannelIndex) -> Failure {
        let (from, to) = self.explorer.system.end_roles(self.system, channel);
        Failure::Orphan { from, to }
    }

    /// Notes that the bound held back a send.
    fn hold_back(&mut self, node: Node) {
        self.is_open[node as usize] = true;
        if self.held_back.last() != Some(&node) {
            self.held_back.push(node);
        }
    }

    /// The event that a message is received from a channel. That a machine moves has its number.
    fn receives(&self, channel: ChannelIndex) -> usize {
        self.explorer.system.machines() + channel
    }

    /// The event that a configuration is met whose successors were not all explored.
    fn opens(&self) -> usize {
        self.receives(self.explorer.system.channels())
    }

    pub(super) fn continuations(&self) -> Continuations {
        let events = |by| {
            let by = self.explorer.system.get(by);
            let received = (!by.is_send).then(|| self.receives(by.channel as ChannelIndex));
            received.into_iter().chain([by.machine as MachineIndex])
        };
        let opens = |node: Node| {
            let is_open = self.is_open.get(node as usize) != Some(&false);
            is_open.then_some(self.opens())
        };
        Continuations::of(&self.explorer.graph, self.opens() + 1, events, opens)
    }

    /// Whether what was explored says all about the system; see the [room](super).
    pub(super) fn is_settled(&self, can: impl Fn(Node, usize) -> bool) -> bool {
        if self.explorer.is_truncated || self.wrong.is_some() {
            return false;
        }
        // All sends of a directed state go to one channel: until it has room, its machine does not
        // move.
        let is_delayed =
            |&node: &Node| self.explorer.held_back(node).all(|sender| can(node, sender));
        let is_directed = self.scope.order == Order::All { is_directed: true };
        self.held_back.is_empty() || (is_directed && self.held_back.iter().all(is_delayed))
    }

    /// A search that comes to something wrong in fewer steps than this one comes to `node`, if
    /// there is one within the budget.
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
        let interned = self.explorer.system;
        let bound = steps.min(queue);
        let scope = Scope { bound, budget, deepest: steps - 1, ..self.scope };
        let mut search = Self::new(self.system, interned, self.listens, scope);
        search.all();
        let wrong = search.wrong.take()?;
        Some((search, wrong))
    }

    /// The events that cannot happen from a configuration on, without those that could not happen
    /// before the last step either and have nothing to do with it: what their machines and queues
    /// do is as it was.
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

    /// The first configuration with a message at the head of a queue that is received in no
    /// continuation. `lost` is [`Self::lost`].
    pub(super) fn lost_message<E: Iterator<Item = usize>>(
        &self,
        lost: impl Fn(Node) -> E,
    ) -> Option<(Node, Failure)> {
        self.explorer.nodes().find_map(|node| {
            let channels = lost(node).filter_map(|event| event.checked_sub(self.receives(0)));
            let is_lost = |&channel: &ChannelIndex| {
                channel < self.explorer.system.channels() && self.explorer.held(node, channel) > 0
            };
            let channel = channels.filter(is_lost).min()?;
            Some((node, self.orphan(channel)))
        })
    }

    /// The first configuration where a machine waits and moves in no continuation.
    pub(super) fn starved<E: Iterator<Item = usize>>(
        &self,
        lost: impl Fn(Node) -> E,
    ) -> Option<(Node, Failure)> {
        let system = self.explorer.system;
        self.explorer.nodes().find_map(|node| {
            let starved = lost(node)
                .find(|&event| event < system.machines() && !self.explorer.may_end(node, event))?;
            let role = system.role(self.system, starved);
            Some((node, Failure::Starvation { role }))
        })
    }

    pub(super) fn run(&self, (node, failure): (Node, Failure)) -> Option<Run> {
        let steps = self.explorer.paths.to(node);
        let steps = self.explorer.system.steps(self.system, &steps);
        let run = Run::of(self.system, steps, failure);
        debug_assert!(run.is_ok(), "exploration and replay disagree: {run:?}");
        run.ok()
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

    fn expand(&mut self, node: Node, machine: MachineIndex) {
        for number in self.explorer.moves(node, machine) {
            let by = *self.explorer.system.get(number);
            if self.explorer.is_enabled(node, &by) {
                self.is_open[node as usize] |= self.explorer.take(node, number).is_none();
            } else if by.is_send {
                self.hold_back(node);
            }
        }
    }

    fn terminal(&mut self, root: Node, component: &Terminal) {
        if self.explorer.ready(root).any(|machine| !component.moved[machine]) {
            self.hold_back(root);
        }
    }
}
