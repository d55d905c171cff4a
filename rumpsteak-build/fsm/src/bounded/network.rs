//! Machines over the queues of a topology, and the roles that can never move again.

use std::ops::Range;

use fixedbitset::FixedBitSet;

use super::{Place, Topology};
use crate::machine::{IndexSet, Message, Role};
use crate::system::{InternedSystem, MachineIndex, Move, StateIndex, StateKind, Step, System};

/// The machines of a system over the queues of a [`Topology`].
///
/// A machine is in a state, or *committed* to a send of it, which it has chosen before there is
/// room. State `machines.states() + n` stands for the commitment to move `n`.
#[derive(Debug)]
pub(super) struct Network<'a> {
    pub(super) machines: InternedSystem<'a>,
    /// By channel.
    pub(super) queues: Vec<Place>,
    /// By move, the other machine.
    pub(super) peers: Vec<MachineIndex>,
    /// The states with several moves in which a role may choose a send before there is room.
    commits: FixedBitSet,
}

/// A configuration as [`Network::stuck`] sees it.
pub(super) trait View {
    fn state(&self, machine: MachineIndex) -> StateIndex;
    fn head(&self, queue: usize) -> Option<u32>;
    fn is_full(&self, queue: usize) -> bool;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Move(u32),
    /// A send and its receive at once.
    Rendezvous(u32, u32),
    /// A send that has to wait. If its role may choose it, this is the commitment.
    Wait(u32),
}

impl<'a> Network<'a> {
    pub(super) fn new(system: &'a System, topology: &Topology) -> Self {
        let (mut queues, mut peers) = (IndexSet::default(), vec![]);
        let roles = (0..system.machines().len()).collect();
        let machines = InternedSystem::over(system, roles, |role, action, (from, to)| {
            peers.push(if action.is_send() { to } else { from });
            queues.insert_full(topology.queue_of(role, action)).0 as u32
        });
        let commits = |&state: &usize| {
            let state = state as StateIndex;
            let moves = machines.all_from(state);
            let is_mixed = machines.kind(state) == StateKind::Mixed;
            let races = |by: &Move| topology.races.contains(&machines.role(by.machine as usize));
            moves.len() > 1 && moves.iter().any(|by| by.is_send) && !(is_mixed && races(&moves[0]))
        };
        let commits = (0..machines.states() as usize).filter(commits).collect();
        let queues = queues.into_iter().map(|queue| topology.place(queue)).collect();
        Self { machines, queues, peers, commits }
    }

    pub(super) fn moves_from(&self, state: StateIndex) -> Range<usize> {
        match state.checked_sub(self.machines.states()) {
            Some(committed) => committed as usize..committed as usize + 1,
            None => self.machines.moves_from(state),
        }
    }

    pub(super) fn commits(&self, state: StateIndex) -> bool {
        self.commits.contains(state as usize)
    }

    /// The moves of machines in an event. A commitment moves no machine.
    pub(super) fn moves_in(&self, event: Event) -> impl Iterator<Item = &Move> {
        event.moves().map(|by| self.machines.get(by as usize))
    }

    /// The sender of a message in a queue, and the message.
    pub(super) fn message(&self, number: u32) -> Option<(Role, Message)> {
        let is_sent = |&by: &u32| {
            let by = self.machines.get(by as usize);
            by.is_send && by.message == number
        };
        let send = (0..self.peers.len() as u32).find(is_sent)?;
        let step = self.machines.steps(&[send]).pop()?;
        Some((step.role, step.action.message))
    }

    pub(super) fn steps(&self, events: &[Event]) -> Vec<Step> {
        let moves: Vec<u32> = events.iter().flat_map(|event| event.moves()).collect();
        self.machines.steps(&moves)
    }

    /// Calls `each` with every possible event, and every send that has to wait.
    pub(super) fn events(&self, view: &impl View, mut each: impl FnMut(Event)) {
        for machine in 0..self.machines.machines() {
            for number in self.moves_from(view.state(machine)) {
                let (by, number) = (self.machines.get(number), number as u32);
                let queue = by.channel as usize;
                let place = &self.queues[queue];
                if !by.is_send {
                    if view.head(queue) == Some(by.message) {
                        each(Event::Move(number));
                    }
                } else if place.capacity == Some(0) {
                    let mut receives = self.receives_of(view, by).peekable();
                    if receives.peek().is_none() {
                        each(Event::Wait(number));
                    }
                    receives.for_each(|receive| each(Event::Rendezvous(number, receive)));
                } else if place.drops || !view.is_full(queue) {
                    each(Event::Move(number));
                } else {
                    each(Event::Wait(number));
                }
            }
        }
    }

    /// The receives of this message that another machine is ready for.
    fn receives_of(&self, view: &impl View, send: &Move) -> impl Iterator<Item = u32> {
        let to = self.machines.ends[send.channel as usize].1;
        let meets = move |&number: &usize| {
            let by = self.machines.get(number);
            !by.is_send
                && by.machine != send.machine
                && (by.channel, by.message) == (send.channel, send.message)
        };
        self.moves_from(view.state(to)).filter(meets).map(|number| number as u32)
    }

    /// Computes the roles that can never move again, whatever the others do: the largest set of
    /// roles each of which only a role of the set could help. Returns true if one of them is not
    /// finished.
    ///
    /// A role that may commit is in the set if one of its sends is [dead](Self::is_dead), because
    /// it may have chosen that one.
    pub(super) fn stuck(&self, view: &impl View, stuck: &mut Vec<bool>) -> bool {
        stuck.clear();
        stuck.resize(self.machines.machines(), true);
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
        let is_dead = |by| self.is_dead(view, stuck, by);
        match self.commits(state) {
            true => moves.any(|by| self.machines.get(by).is_send && is_dead(by)),
            false => moves.all(is_dead),
        }
    }

    /// True if a move can never happen, because its role and the others that it needs are stuck.
    pub(super) fn is_dead(&self, view: &impl View, stuck: &[bool], number: usize) -> bool {
        let (by, peer) = (self.machines.get(number), self.peers[number]);
        let queue = by.channel as usize;
        if !by.is_send {
            return view.head(queue).map_or(stuck[peer], |message| message != by.message);
        }
        let place = &self.queues[queue];
        stuck[peer]
            && !place.drops
            && match place.capacity {
                None => false,
                // A stuck receiver that may commit has chosen to send.
                Some(0) => {
                    self.commits(view.state(peer)) || self.receives_of(view, by).next().is_none()
                }
                Some(_) => view.is_full(queue),
            }
    }

    /// True if a role may stay where it is for ever.
    pub(super) fn is_finished(&self, view: &impl View, machine: MachineIndex) -> bool {
        let state = view.state(machine);
        if state >= self.machines.states() || !self.machines.may_end(state) {
            return false;
        }
        // A role on demand that was sent a message has to play.
        let mut ends = self.machines.ends.iter().enumerate();
        self.machines.kind(state) == StateKind::Final
            || !ends.any(|(queue, &(_, to))| to == machine && view.head(queue).is_some())
    }
}

impl Event {
    fn moves(self) -> impl Iterator<Item = u32> {
        let (first, second) = match self {
            Self::Move(by) => (Some(by), None),
            Self::Rendezvous(send, receive) => (Some(send), Some(receive)),
            Self::Wait(_) => (None, None),
        };
        first.into_iter().chain(second)
    }
}
