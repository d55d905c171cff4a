//! Machines and their queues with numbers, and the roles that can never move again.

use std::ops::Range;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;

use super::topology::{Queue, Topology, TopologyError};
use crate::machine::{Direction, Fsm, Message, Role, StateId};
use crate::system::System;
use crate::system::interned::{MachineIndex, Move, StateIndex};
use crate::system::run::Step;

/// A queue, with its receiver and its capacity.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) queue: Queue,
    pub(super) to: MachineIndex,
    /// `None` if it is unbounded.
    pub(super) capacity: Option<u32>,
    /// True if it has the capacity of all queues, which [`Network::scaled`] changes.
    pub(super) is_scaled: bool,
    pub(super) drops: bool,
}

/// The machines of a system over the queues of a [`Topology`].
///
/// A machine is in a state, or *committed* to a send of it, which it has chosen before there is
/// room. State `states() + n` stands for the commitment to move `n`.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) system: Arc<System>,
    pub(super) initial: Vec<StateIndex>,
    pub(super) moves: Vec<Move>,
    offsets: Vec<u32>,
    pub(super) queues: Vec<Place>,
    /// By number.
    messages: Vec<(MachineIndex, Message)>,
    /// A send and a receive of one message, in the order of the sends.
    pairs: Vec<(u32, u32)>,
    may_end: FixedBitSet,
    idle: FixedBitSet,
    /// The states with several moves in which a role may choose a send before there is room.
    commits: FixedBitSet,
    /// The machines that may do so in a state that also receives.
    pub(super) committing: FixedBitSet,
}

/// A configuration as [`Network::stuck`] sees it.
pub(super) trait View {
    fn state(&self, machine: MachineIndex) -> StateIndex;
    fn head(&self, queue: usize) -> Option<u32>;
    fn is_full(&self, queue: usize) -> bool;
}

/// One step of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Move(u32),
    /// A send and its receive at once.
    Rendezvous(u32, u32),
    Commit(u32),
}

impl Network {
    pub(super) fn new(system: Arc<System>, topology: &Topology) -> Result<Self, TopologyError> {
        let states = system.machines().iter().map(Fsm::len).sum();
        let mut network = Self {
            initial: vec![],
            moves: vec![],
            offsets: vec![0],
            queues: vec![],
            messages: vec![],
            pairs: vec![],
            may_end: FixedBitSet::with_capacity(states),
            idle: FixedBitSet::with_capacity(states),
            commits: FixedBitSet::with_capacity(states),
            committing: FixedBitSet::with_capacity(system.machines().len()),
            system: Arc::clone(&system),
        };
        let mut numbers: HashMap<(MachineIndex, &Message), u32> = HashMap::new();
        let mut places: HashMap<Queue, u32> = HashMap::new();
        for (own, machine) in system.machines().iter().enumerate() {
            let role = machine.role();
            let base = network.offsets.len() - 1;
            let number = |state: StateId| (base + state.index()) as StateIndex;
            network.initial.push(number(machine.initial()));
            for state in machine.states() {
                let start = network.moves.len();
                for by in machine.transitions_from(state) {
                    // Each peer has a machine.
                    let Some(peer) = system.index_of(&by.action.peer) else { continue };
                    let is_send = by.action.direction == Direction::Send;
                    let (from, to) = if is_send { (own, peer) } else { (peer, own) };
                    let queue = topology.queue_of(role, by.action);
                    let place = *places.entry(queue.clone()).or_insert_with(|| {
                        let named = topology.named(&queue);
                        let capacity = named.capacity.or(topology.capacity);
                        network.queues.push(Place {
                            queue,
                            to,
                            capacity: capacity.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
                            is_scaled: named.capacity.is_none() && capacity.is_some(),
                            drops: named.drops,
                        });
                        network.queues.len() as u32 - 1
                    });
                    let message = (from, &by.action.message);
                    let next = numbers.len() as u32;
                    let number_of = *numbers.entry(message).or_insert(next);
                    if number_of == next {
                        network.messages.push((from, by.action.message.clone()));
                    }
                    network.moves.push(Move {
                        machine: own as u32,
                        channel: place,
                        message: number_of,
                        target: number(by.target),
                        is_send,
                        transition: by.id,
                    });
                }
                let moves = &network.moves[start..];
                let sends = moves.iter().filter(|by| by.is_send).count();
                let races = topology.races(role) && sends < moves.len();
                network.offsets.push(network.moves.len() as u32);
                let is_idle = machine.is_on_demand() && state == machine.initial();
                let is_choice = sends > 0 && moves.len() > 1;
                let at = base + state.index();
                network.may_end.set(at, machine.may_end(state));
                network.idle.set(at, is_idle);
                network.commits.set(at, is_choice && !races);
                if is_choice && !races && sends < moves.len() {
                    network.committing.insert(own);
                }
            }
        }
        let used: Vec<Queue> = network.queues.iter().map(|place| place.queue.clone()).collect();
        topology.check(&used, |role| network.system.index_of(role).is_some())?;
        network.pairs = pairs(&network.moves);
        Ok(network)
    }

    /// The network whose queues without a capacity of their own have this one.
    pub(super) fn scaled(&self, capacity: usize) -> Self {
        let mut scaled = self.clone();
        for place in scaled.queues.iter_mut().filter(|place| place.is_scaled) {
            place.capacity = Some(u32::try_from(capacity).unwrap_or(u32::MAX));
        }
        scaled
    }

    fn states(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn moves_from(&self, state: StateIndex) -> Range<usize> {
        match (state as usize).checked_sub(self.states()) {
            Some(committed) => committed..committed + 1,
            None => {
                self.offsets[state as usize] as usize..self.offsets[state as usize + 1] as usize
            }
        }
    }

    pub(super) fn commitment(&self, by: u32) -> StateIndex {
        self.states() as u32 + by
    }

    pub(super) fn may_end(&self, state: StateIndex) -> bool {
        self.may_end.contains(state as usize)
    }

    pub(super) fn commits(&self, state: StateIndex) -> bool {
        self.commits.contains(state as usize)
    }

    fn is_rendezvous(&self, by: &Move) -> bool {
        self.queues[by.channel as usize].capacity == Some(0)
    }

    pub(super) fn role(&self, machine: MachineIndex) -> &Role {
        self.system.machines()[machine].role()
    }

    /// The sender of a message, and the message.
    pub(super) fn message(&self, number: u32) -> (MachineIndex, &Message) {
        let (sender, message) = &self.messages[number as usize];
        (*sender, message)
    }

    /// The moves of machines in an event. A commitment is none.
    pub(super) fn moves_in(&self, event: Event) -> impl Iterator<Item = &Move> {
        let (first, second) = match event {
            Event::Move(by) => (Some(by), None),
            Event::Rendezvous(send, receive) => (Some(send), Some(receive)),
            Event::Commit(_) => (None, None),
        };
        [first, second].into_iter().flatten().map(|by| &self.moves[by as usize])
    }

    pub(super) fn steps(&self, events: &[Event]) -> Vec<Step> {
        let step = |by: &Move| {
            let machine = &self.system.machines()[by.machine as usize];
            let (role, transition) = (machine.role().clone(), by.transition);
            Step { role, transition, action: machine.transition(transition).action.clone() }
        };
        events.iter().flat_map(|&event| self.moves_in(event).map(step)).collect()
    }

    /// Calls `each` with every possible event, except commitments; `held_back` with every send
    /// that has to wait.
    pub(super) fn events(
        &self,
        view: &impl View,
        mut each: impl FnMut(Event),
        mut held_back: impl FnMut(u32),
    ) {
        for machine in 0..self.initial.len() {
            for number in self.moves_from(view.state(machine)) {
                let (by, number) = (&self.moves[number], number as u32);
                let place = &self.queues[by.channel as usize];
                if !by.is_send {
                    if view.head(by.channel as usize) == Some(by.message) {
                        each(Event::Move(number));
                    }
                } else if self.is_rendezvous(by) {
                    let offered = self.moves_from(view.state(place.to));
                    let mut met =
                        self.pairs_of(number).filter(|by| offered.contains(by)).peekable();
                    if met.peek().is_none() {
                        held_back(number);
                    }
                    met.for_each(|receive| each(Event::Rendezvous(number, receive as u32)));
                } else if place.drops || !view.is_full(by.channel as usize) {
                    each(Event::Move(number));
                } else {
                    held_back(number);
                }
            }
        }
    }

    fn pairs_of(&self, send: u32) -> impl Iterator<Item = usize> {
        let start = self.pairs.partition_point(|pair| pair.0 < send);
        let pairs = self.pairs[start..].iter().take_while(move |pair| pair.0 == send);
        pairs.map(|pair| pair.1 as usize)
    }

    /// Computes the roles that can never move again, whatever the others do: the largest set of
    /// roles each of which only a role of the set could help. Returns true if one of them is not
    /// finished.
    ///
    /// A role that may commit is in the set if one of its sends is [dead](Self::is_dead), because
    /// it may have chosen that one.
    pub(super) fn stuck(&self, view: &impl View, stuck: &mut Vec<bool>) -> bool {
        stuck.clear();
        stuck.resize(self.initial.len(), true);
        let mut is_changed = true;
        while std::mem::take(&mut is_changed) {
            for machine in 0..stuck.len() {
                if stuck[machine] && !self.is_stuck(view, stuck, machine) {
                    stuck[machine] = false;
                    is_changed = true;
                }
            }
        }
        (0..stuck.len()).any(|machine| stuck[machine] && !self.is_finished(view, machine))
    }

    fn is_stuck(&self, view: &impl View, stuck: &[bool], machine: MachineIndex) -> bool {
        let state = view.state(machine);
        let mut moves = self.moves_from(state);
        match self.commits(state) {
            true => moves.any(|by| self.moves[by].is_send && self.is_dead(view, stuck, by)),
            false => moves.all(|by| self.is_dead(view, stuck, by)),
        }
    }

    /// True if a move can never happen, because its role and the others that it needs are stuck.
    pub(super) fn is_dead(&self, view: &impl View, stuck: &[bool], number: usize) -> bool {
        let by = &self.moves[number];
        let place = &self.queues[by.channel as usize];
        if !by.is_send {
            return match view.head(by.channel as usize) {
                Some(message) => message != by.message,
                None => stuck[self.message(by.message).0],
            };
        }
        if !stuck[place.to] || place.drops {
            return false;
        }
        if !self.is_rendezvous(by) {
            return view.is_full(by.channel as usize);
        }
        let state = view.state(place.to);
        // A stuck receiver that may commit has chosen to send.
        let offered = self.moves_from(state);
        self.commits(state)
            || !self.pairs_of(number as u32).any(|receive| offered.contains(&receive))
    }

    /// True if a role may stay where it is for ever.
    pub(super) fn is_finished(&self, view: &impl View, machine: MachineIndex) -> bool {
        let state = view.state(machine);
        let mut queues = self.queues.iter().enumerate();
        // A role on demand that was sent a message has to play.
        let mut is_asked =
            || queues.any(|(queue, place)| place.to == machine && view.head(queue).is_some());
        self.may_end(state) && !(self.idle.contains(state as usize) && is_asked())
    }
}

/// The sends and receives of one message in one queue by two machines, in the order of the sends.
fn pairs(moves: &[Move]) -> Vec<(u32, u32)> {
    let mut receives: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    let numbered = || (0..).zip(moves);
    for (number, by) in numbered().filter(|(_, by)| !by.is_send) {
        receives.entry((by.channel, by.message)).or_default().push(number);
    }
    let mut pairs = vec![];
    for (send, by) in numbered().filter(|(_, by)| by.is_send) {
        let met = receives.get(&(by.channel, by.message)).into_iter().flatten();
        // A role cannot meet itself.
        let others = met.filter(|&&other| moves[other as usize].machine != by.machine);
        pairs.extend(others.map(|&receive| (send, receive)));
    }
    pairs
}
