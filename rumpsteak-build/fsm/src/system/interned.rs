//! A system with numbers for states, channels and messages. Exploration, k-MC and capacities work
//! on it.

use std::ops::Range;

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;
use petgraph::unionfind::UnionFind;

use super::{Step, System};
use crate::machine::{Action, Fsm, Message, Role, StateId, TransitionId};

pub(crate) type MachineIndex = usize;
/// A channel of an [`InternedSystem`]: an ordered pair of machines that exchange messages.
pub(crate) type ChannelIndex = usize;
/// A state of an [`InternedSystem`]; the states of all machines are numbered together.
pub(crate) type StateIndex = u32;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) machine: u32,
    pub(crate) channel: u32,
    pub(crate) message: u32,
    pub(crate) target: StateIndex,
    pub(crate) is_send: bool,
    pub(crate) transition: TransitionId,
}

impl Move {
    pub(crate) fn received(&self) -> Option<ChannelIndex> {
        (!self.is_send).then_some(self.channel as ChannelIndex)
    }
}

/// The common property of the transitions of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateKind {
    Final,
    /// All receive from this channel.
    Receives(u32),
    /// All receive, from several channels.
    ReceivesAny,
    /// All send to this channel.
    Sends(u32),
    /// All send, to several channels.
    SendsAny,
    /// Some send and some receive.
    Mixed,
}

impl StateKind {
    fn of(moves: &[Move]) -> Self {
        let Some(first) = moves.first() else { return Self::Final };
        let one_channel = moves.iter().all(|other| other.channel == first.channel);
        match (first.is_send, one_channel) {
            _ if moves.iter().any(|other| other.is_send != first.is_send) => Self::Mixed,
            (true, true) => Self::Sends(first.channel),
            (true, false) => Self::SendsAny,
            (false, true) => Self::Receives(first.channel),
            (false, false) => Self::ReceivesAny,
        }
    }

    pub(crate) fn is_directed(self) -> bool {
        matches!(self, Self::Final | Self::Receives(_) | Self::Sends(_))
    }

    pub(crate) fn receives_only(self) -> bool {
        matches!(self, Self::Receives(_) | Self::ReceivesAny)
    }
}

/// Machines of a [`System`] that exchange messages with no other machine of it.
#[derive(Debug)]
pub(crate) struct InternedSystem<'a> {
    pub(crate) whole: &'a System,
    /// The positions of these machines in the system.
    pub(crate) roles: Vec<usize>,
    pub(crate) initial: Vec<StateIndex>,
    /// Sender and receiver of each channel; one of the senders if it has several.
    pub(crate) ends: Vec<(MachineIndex, MachineIndex)>,
    moves: Vec<Move>,
    /// `moves[offsets[s]..offsets[s + 1]]` leave state `s`.
    offsets: Vec<u32>,
    kinds: Vec<StateKind>,
    /// The initial states of roles on demand.
    idle: FixedBitSet,
    /// True if all reachable states are directed.
    pub(crate) is_directed: bool,
    /// True if no reachable state has two transitions with one action and different targets.
    pub(crate) is_deterministic: bool,
    /// True if a reachable state both sends and receives.
    pub(crate) is_mixed: bool,
}

impl<'a> InternedSystem<'a> {
    pub(crate) fn whole(system: &'a System) -> Self {
        Self::new(system, (0..system.machines().len()).collect())
    }

    /// The parts of a system that exchange no messages with each other, in the order of their first
    /// machines.
    pub(crate) fn parts(system: &'a System) -> Vec<Self> {
        let machines = system.machines();
        let mut part_of = UnionFind::new(machines.len());
        for (own, machine) in machines.iter().enumerate() {
            for transition in machine.transitions() {
                if let Some(peer) = system.index_of(&transition.action.peer) {
                    part_of.union(own, peer);
                }
            }
        }
        let mut parts = vec![vec![]; machines.len()];
        for (machine, part) in part_of.into_labeling().into_iter().enumerate() {
            parts[part].push(machine);
        }
        parts.retain(|roles| !roles.is_empty());
        parts.sort();
        parts.into_iter().map(|roles| Self::new(system, roles)).collect()
    }

    fn new(whole: &'a System, roles: Vec<usize>) -> Self {
        let mut channels = HashMap::new();
        Self::over(whole, roles, |_, _, ends| {
            let next = channels.len() as u32;
            *channels.entry(ends).or_insert(next)
        })
    }

    /// The machines over other channels than one for each pair: `channel_of` numbers the channel of
    /// each action of a role from 0 on. It is called for each move in order, with sender and
    /// receiver.
    pub(crate) fn over(
        whole: &'a System,
        roles: Vec<usize>,
        mut channel_of: impl FnMut(&Role, &Action, (MachineIndex, MachineIndex)) -> u32,
    ) -> Self {
        let machines: Vec<_> = roles.iter().map(|&role| &whole.machines()[role]).collect();
        let mut index_of = vec![None; whole.machines().len()];
        for (index, &role) in roles.iter().enumerate() {
            index_of[role] = Some(index);
        }
        let moves = machines.iter().map(|fsm| fsm.transition_count()).sum();
        let mut messages: HashMap<(MachineIndex, &Message), u32> = HashMap::with_capacity(moves);
        let mut interned = Self {
            whole,
            initial: vec![],
            ends: vec![],
            moves: Vec::with_capacity(moves),
            offsets: vec![0],
            kinds: Vec::with_capacity(machines.iter().map(|fsm| fsm.len()).sum()),
            idle: FixedBitSet::with_capacity(machines.iter().map(|fsm| fsm.len()).sum()),
            is_directed: true,
            is_deterministic: true,
            is_mixed: false,
            roles,
        };
        for (own, machine) in machines.iter().enumerate() {
            let base = interned.kinds.len();
            let state = |state: StateId| (base + state.index()) as StateIndex;
            interned.initial.push(state(machine.initial()));
            interned.idle.set(state(machine.initial()) as usize, machine.is_on_demand());
            for source in machine.states() {
                let start = interned.moves.len();
                for transition in machine.transitions_from(source) {
                    let action = transition.action;
                    // A system has a machine for every peer, and a part has all peers of its
                    // machines.
                    let peer = whole.index_of(&action.peer);
                    let Some(peer) = peer.and_then(|peer| index_of[peer]) else { continue };
                    let is_send = action.is_send();
                    let ends = if is_send { (own, peer) } else { (peer, own) };
                    let channel = channel_of(machine.role(), action, ends);
                    if channel as usize == interned.ends.len() {
                        interned.ends.push(ends);
                    }
                    let next = messages.len() as u32;
                    interned.moves.push(Move {
                        machine: own as u32,
                        channel,
                        message: *messages.entry((ends.0, &action.message)).or_insert(next),
                        target: state(transition.target),
                        is_send,
                        transition: transition.id,
                    });
                }
                let kind = StateKind::of(&interned.moves[start..]);
                interned.offsets.push(interned.moves.len() as u32);
                interned.kinds.push(kind);
            }
            for reached in machine.reachable() {
                let kind = interned.kind(state(reached));
                interned.is_directed &= kind.is_directed();
                interned.is_mixed |= kind == StateKind::Mixed;
                interned.is_deterministic &= machine.nondeterministic(reached).is_none();
            }
        }
        interned
    }

    pub(crate) fn machines(&self) -> usize {
        self.roles.len()
    }

    pub(crate) fn states(&self) -> StateIndex {
        self.kinds.len() as StateIndex
    }

    pub(crate) fn channels(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn uniform(&self, bound: usize) -> Vec<u32> {
        vec![u32::try_from(bound).unwrap_or(u32::MAX); self.channels()]
    }

    pub(crate) fn kind(&self, state: StateIndex) -> StateKind {
        self.kinds[state as usize]
    }

    /// True if the machine may be finished in this state.
    pub(crate) fn may_end(&self, state: StateIndex) -> bool {
        self.kind(state) == StateKind::Final || self.idle.contains(state as usize)
    }

    /// The numbers of the moves that leave a state.
    pub(crate) fn moves_from(&self, state: StateIndex) -> Range<usize> {
        self.offsets[state as usize] as usize..self.offsets[state as usize + 1] as usize
    }

    pub(crate) fn all_from(&self, state: StateIndex) -> &[Move] {
        &self.moves[self.moves_from(state)]
    }

    pub(crate) fn get(&self, number: usize) -> &Move {
        &self.moves[number]
    }

    pub(crate) fn steps(&self, path: &[u32]) -> Vec<Step> {
        let step = |&number: &u32| {
            let by = self.get(number as usize);
            let machine = self.fsm(by.machine as MachineIndex);
            let (role, transition) = (machine.role().clone(), by.transition);
            Step { role, transition, action: machine.transition(transition).action.clone() }
        };
        path.iter().map(step).collect()
    }

    fn fsm(&self, machine: MachineIndex) -> &'a Fsm {
        &self.whole.machines()[self.roles[machine]]
    }

    /// A state of a machine, by the machine's own number.
    pub(crate) fn own_state(&self, machine: MachineIndex, state: StateIndex) -> StateId {
        let initial = self.fsm(machine).initial().index();
        StateId::from_index((initial + state as usize) - self.initial[machine] as usize)
    }

    pub(crate) fn fsms(&self) -> impl Iterator<Item = &'a Fsm> {
        (0..self.machines()).map(|machine| self.fsm(machine))
    }

    pub(crate) fn role(&self, machine: MachineIndex) -> Role {
        self.fsm(machine).role().clone()
    }

    pub(crate) fn end_roles(&self, channel: ChannelIndex) -> (Role, Role) {
        let (from, to) = self.ends[channel];
        (self.role(from), self.role(to))
    }
}
