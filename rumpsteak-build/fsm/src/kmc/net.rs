//! A system with everything interned: states, channels and messages are numbers.

use std::ops::Range;

use crate::{
    hashed::HashedMap,
    machine::{Defect, Direction, Fsm, Message, Role, StateId, TransitionId},
    run::Step,
    sorted::{self, SortedMap},
    system::System,
};

/// A machine of a [`Net`], from 0.
pub(crate) type Machine = usize;
/// A channel of a [`Net`], from 0: an ordered pair of machines between which some transition sends or receives.
pub(crate) type Channel = usize;
/// A state of a [`Net`]: the states of all machines in one range of numbers.
pub(crate) type State = u32;

/// A transition with everything interned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) machine: u32,
    pub(crate) channel: u32,
    pub(crate) message: u32,
    pub(crate) target: State,
    pub(crate) is_send: bool,
    transition: TransitionId,
}

/// What a state's transitions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// There are none.
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

impl Kind {
    pub(crate) fn is_directed(self) -> bool {
        matches!(self, Self::Final | Self::Receives(_) | Self::Sends(_))
    }

    pub(crate) fn receives_only(self) -> bool {
        matches!(self, Self::Receives(_) | Self::ReceivesAny)
    }
}

/// A part of a [`System`] whose machines talk to nobody outside of it.
#[derive(Debug)]
pub(crate) struct Net {
    /// Which machines of the system these are.
    roles: Vec<usize>,
    pub(crate) initial: Vec<State>,
    /// Sender and receiver of each channel.
    pub(crate) ends: Vec<(Machine, Machine)>,
    moves: Vec<Move>,
    /// `moves[offsets[s]..offsets[s + 1]]` leave state `s`.
    offsets: Vec<u32>,
    kinds: Vec<Kind>,
    /// Whether all states that the machines reach are directed.
    pub(crate) is_directed: bool,
    /// Whether in no state that the machines reach two transitions with one action lead to different states.
    pub(crate) is_deterministic: bool,
    /// Whether some state that the machines reach both sends and receives.
    pub(crate) is_mixed: bool,
}

impl Net {
    /// The parts of a system, by their first machine. A machine that talks to nobody is a part of its own.
    pub(crate) fn parts(system: &System) -> Vec<Self> {
        let machines = system.machines();
        let mut part: Vec<usize> = (0..machines.len()).collect();
        let find = |part: &mut [usize], mut at: usize| {
            while part[at] != at {
                part[at] = part[part[at]];
                at = part[at];
            }
            at
        };
        for (own, machine) in machines.iter().enumerate() {
            for transition in machine.transitions() {
                if let Some(peer) = system.index_of(&transition.action.peer) {
                    let (one, other) = (find(&mut part, own), find(&mut part, peer));
                    part[one.max(other)] = one.min(other);
                }
            }
        }
        let mut roles: SortedMap<usize, Vec<usize>> = SortedMap::new();
        for machine in 0..machines.len() {
            let root = find(&mut part, machine);
            roles.or_default(root).push(machine);
        }
        roles
            .into_values()
            .map(|roles| Self::new(system, roles))
            .collect()
    }

    fn new(system: &System, roles: Vec<usize>) -> Self {
        let machines: Vec<_> = roles.iter().map(|&role| &system.machines()[role]).collect();
        let index_of: HashedMap<&Role, Machine> = machines
            .iter()
            .enumerate()
            .map(|(index, machine)| (machine.role(), index))
            .collect();
        let mut channels: HashedMap<(Machine, Machine), u32> = HashedMap::new();
        let mut ends = vec![];
        let mut messages: HashedMap<&Message, u32> = HashedMap::new();
        let mut net = Self {
            initial: vec![],
            ends: vec![],
            moves: vec![],
            offsets: vec![0],
            kinds: vec![],
            is_directed: true,
            is_deterministic: true,
            is_mixed: false,
            roles: vec![],
        };
        for (own, machine) in machines.iter().enumerate() {
            let base = net.kinds.len();
            let state = |state: StateId| (base + state.index()) as State;
            net.initial.push(state(machine.initial()));
            for source in machine.states() {
                let start = net.moves.len();
                for transition in machine.transitions_from(source) {
                    let action = transition.action;
                    // A system has a machine for every peer, and a part has all peers of its machines.
                    let Some(&peer) = index_of.get(&action.peer) else {
                        continue;
                    };
                    let is_send = action.direction == Direction::Send;
                    let pair = if is_send { (own, peer) } else { (peer, own) };
                    let channel = *channels.or_insert_with(pair, || {
                        ends.push(pair);
                        ends.len() as u32 - 1
                    });
                    let next = messages.len() as u32;
                    net.moves.push(Move {
                        machine: own as u32,
                        channel,
                        message: *messages.or_insert_with(&action.message, || next),
                        target: state(transition.target),
                        is_send,
                        transition: transition.id,
                    });
                }
                net.offsets.push(net.moves.len() as u32);
                net.kinds.push(kind(&net.moves[start..]));
            }
            for reached in machine.reachable() {
                let reached = state(reached);
                net.is_directed &= net.kind(reached).is_directed();
                net.is_mixed |= net.kind(reached) == Kind::Mixed;
                let mut actions: Vec<_> = net
                    .moves_from(reached)
                    .map(|number| {
                        let by = net.get(number);
                        ((by.is_send, by.channel, by.message), by.target)
                    })
                    .collect();
                sorted::sort(&mut actions);
                actions.dedup();
                net.is_deterministic &= actions.windows(2).all(|pair| pair[0].0 != pair[1].0);
            }
        }
        net.ends = ends;
        net.roles = roles;
        net
    }

    /// Which machines of the system these are.
    pub(crate) fn roles(&self) -> &[usize] {
        &self.roles
    }

    pub(crate) fn machines(&self) -> usize {
        self.roles.len()
    }

    /// The number of states of all machines together.
    pub(crate) fn states(&self) -> State {
        self.kinds.len() as State
    }

    pub(crate) fn channels(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn kind(&self, state: State) -> Kind {
        self.kinds[state as usize]
    }

    /// The numbers of the moves that leave `state`.
    pub(crate) fn moves_from(&self, state: State) -> Range<usize> {
        self.offsets[state as usize] as usize..self.offsets[state as usize + 1] as usize
    }

    pub(crate) fn get(&self, number: usize) -> &Move {
        &self.moves[number]
    }

    /// What a move is in the system that this is a part of.
    pub(crate) fn step(&self, system: &System, number: usize) -> Step {
        let Move {
            machine,
            transition,
            ..
        } = self.moves[number];
        let machine = &system.machines()[self.roles[machine as usize]];
        Step {
            role: machine.role().clone(),
            transition,
            action: machine.transition(transition).action.clone(),
        }
    }

    pub(crate) fn transition(&self, number: usize) -> TransitionId {
        self.moves[number].transition
    }

    pub(crate) fn role(&self, system: &System, machine: Machine) -> Role {
        system.machines()[self.roles[machine]].role().clone()
    }
}

fn kind(moves: &[Move]) -> Kind {
    let Some(first) = moves.first() else {
        return Kind::Final;
    };
    let one_channel = moves.iter().all(|other| other.channel == first.channel);
    if moves.iter().any(|other| other.is_send != first.is_send) {
        Kind::Mixed
    } else {
        match (first.is_send, one_channel) {
            (true, true) => Kind::Sends(first.channel),
            (true, false) => Kind::SendsAny,
            (false, true) => Kind::Receives(first.channel),
            (false, false) => Kind::ReceivesAny,
        }
    }
}

/// The first reachable state of one of the machines that mixes sends and receives.
pub(crate) fn mixed(system: &System, among: &[usize]) -> Option<(Role, Defect)> {
    defect(system, among, |machine, state| {
        let first = |direction| {
            machine
                .transitions_from(state)
                .find(|transition| transition.action.direction == direction)
                .map(|transition| transition.id)
        };
        Some(Defect::Mixed {
            state,
            send: first(Direction::Send)?,
            receive: first(Direction::Receive)?,
        })
    })
}

/// The first reachable state of one of the machines that two transitions with one action leave
/// for different states.
pub(crate) fn nondeterministic(system: &System, among: &[usize]) -> Option<(Role, Defect)> {
    defect(system, among, |machine, state| {
        let mut seen = HashedMap::new();
        machine.transitions_from(state).find_map(|transition| {
            let first =
                *seen.or_insert_with(transition.action, || (transition.id, transition.target));
            (first.1 != transition.target).then(|| Defect::Nondeterministic {
                state,
                action: transition.action.clone(),
                transitions: [first.0, transition.id],
            })
        })
    })
}

/// The first reachable state of one of the machines that chooses between peers.
pub(crate) fn undirected(system: &System, among: &[usize]) -> Option<(Role, Defect)> {
    defect(system, among, |machine, state| {
        let mut peers: Vec<Role> = vec![];
        for transition in machine.transitions_from(state) {
            if !peers.contains(&transition.action.peer) {
                peers.push(transition.action.peer.clone());
            }
        }
        (peers.len() > 1).then_some(Defect::Undirected { state, peers })
    })
}

fn defect(
    system: &System,
    among: &[usize],
    of: impl Fn(&Fsm, StateId) -> Option<Defect>,
) -> Option<(Role, Defect)> {
    among.iter().find_map(|&machine| {
        let machine = &system.machines()[machine];
        let mut states: Vec<StateId> = machine.reachable().collect();
        sorted::sort(&mut states);
        let defect = states.into_iter().find_map(|state| of(machine, state))?;
        Some((machine.role().clone(), defect))
    })
}
