//! A run after which a role waits for ever, and the waits of all roles at its end.

use std::fmt;

use super::network::{Network, View};
use super::search::{At, Search};
use super::topology::Queue;
use crate::machine::{Action, Message, Role, TransitionId};
use crate::system::components::Node;
use crate::system::interned::MachineIndex;
use crate::system::run::{Failure, Step};

/// A run after which a role waits for ever, or a message is never received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// The failure at the end. A [`Failure::Deadlock`] is about the roles of
    /// [`waits`](Self::waits) only; others may go on.
    pub failure: Failure,
    /// The steps. A shortest run if [`is_shortest`](Self::is_shortest).
    pub steps: Vec<Step>,
    /// True if no run to stuck roles has fewer steps. A rendezvous counts once.
    pub is_shortest: bool,
    /// The roles that never move again, with the actions that they wait for.
    pub waits: Vec<Wait>,
    /// If this is n > 0, the first n roles of `waits` wait in a cycle: each for the next one, and
    /// the last one for the first.
    pub cycle: usize,
    /// The queues that are not empty at the end, and the senders of their messages.
    pub queues: Vec<(Queue, Vec<(Role, Message)>)>,
    /// If it is proven that some run hangs with every capacity from a number on, the least such
    /// number that is known. It is about the queues without a capacity of their own.
    pub every_capacity_from: Option<usize>,
}

/// A role that waits, with the actions that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The role.
    pub role: Role,
    /// The actions, and their transitions: receives, or the send that has no room.
    pub actions: Vec<(TransitionId, Action)>,
    /// The full queue, and its capacity; `None` if the role waits for a message.
    pub full: Option<(Queue, usize)>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, actions, full } = self;
        match full {
            Some((queue, 0)) => {
                write!(f, "{role} waits until {} takes a message from {queue}", queue.to())
            }
            Some((queue, capacity)) => {
                write!(f, "{role} waits for room in {queue}, which is full ({capacity})")
            }
            None => {
                write!(f, "{role} waits for ")?;
                for (number, (_, action)) in actions.iter().enumerate() {
                    let before = if number == 0 { "" } else { " or " };
                    write!(f, "{before}{} from {}", action.message, action.peer)?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut waits = self.waits.iter();
        match (&self.failure, self.cycle) {
            (Failure::Deadlock, 0 | 1) => match waits.next() {
                Some(wait) => write!(f, "{} waits for ever", wait.role),
                None => Ok(()),
            },
            (Failure::Deadlock, cycle) => {
                for (number, wait) in waits.take(cycle).enumerate() {
                    let before = match number {
                        0 => "",
                        _ if number + 1 == cycle => " and ",
                        _ => ", ",
                    };
                    write!(f, "{before}{}", wait.role)?;
                }
                write!(f, " wait for each other")
            }
            (failure, _) => failure.fmt(f),
        }
    }
}

impl Hang {
    /// The hang in a configuration of a search.
    pub(super) fn at(network: &Network, search: &Search<'_>, node: Node, failure: Failure) -> Self {
        let steps = network.steps(&search.path(node));
        let view = At(search, node);
        let mut stuck = vec![];
        network.stuck(&view, &mut stuck);
        let is_lost = failure != Failure::Deadlock;
        let waits = |machine: MachineIndex| match &failure {
            Failure::Starvation { role } => network.role(machine) == role,
            _ => stuck[machine] && !network.is_finished(&view, machine),
        };
        let mut waiting: Vec<(MachineIndex, Wait)> = (0..stuck.len())
            .filter(|&machine| waits(machine))
            .map(|machine| (machine, wait(network, &view, &stuck, machine)))
            .collect();
        let cycle = if is_lost { vec![] } else { cycle(network, &view, &waiting) };
        let place = |machine: &MachineIndex| cycle.iter().position(|other| other == machine);
        waiting.sort_by_key(|(machine, _)| place(machine).unwrap_or(cycle.len()));
        let queues = network.queues.iter().enumerate().filter_map(|(queue, place)| {
            let messages = view.messages(queue).into_iter();
            let messages: Vec<_> = messages
                .map(|held| network.message(held))
                .map(|(sender, message)| (network.role(sender).clone(), message.clone()))
                .collect();
            (!messages.is_empty()).then(|| (place.queue.clone(), messages))
        });
        Self {
            failure,
            steps,
            is_shortest: !is_lost,
            cycle: cycle.len(),
            queues: queues.collect(),
            every_capacity_from: None,
            waits: waiting.into_iter().map(|(_, wait)| wait).collect(),
        }
    }
}

fn wait(network: &Network, view: &At<'_>, stuck: &[bool], machine: MachineIndex) -> Wait {
    let fsm = &network.system.machines()[machine];
    let action = |by: usize| {
        let transition = network.moves[by].transition;
        (transition, fsm.transition(transition).action.clone())
    };
    let moves = || network.moves_from(view.state(machine));
    let is_send = |by: &usize| network.moves[*by].is_send;
    let mut dead = moves().filter(|by| is_send(by) && network.is_dead(view, stuck, *by));
    // A starving role may wait for room that others could make, but never do.
    let send = dead.next().or_else(|| moves().find(is_send));
    let full = send.map(|by| &network.queues[network.moves[by].channel as usize]);
    Wait {
        role: fsm.role().clone(),
        actions: send.map_or_else(|| moves().map(action).collect(), |by| vec![action(by)]),
        full: full.map(|place| (place.queue.clone(), place.capacity.unwrap_or(u32::MAX) as usize)),
    }
}

/// Roles that wait in a cycle, each for the next one. Empty if there is none.
fn cycle(network: &Network, view: &At<'_>, waiting: &[(MachineIndex, Wait)]) -> Vec<MachineIndex> {
    let wait_of = |machine| waiting.iter().find(|(other, _)| *other == machine);
    let next = |machine: MachineIndex| {
        let (_, wait) = wait_of(machine)?;
        let to = |role: &Role| network.system.index_of(role);
        let mut peers: Vec<MachineIndex> = match &wait.full {
            Some((queue, _)) => to(queue.to()).into_iter().collect(),
            None => {
                let moves = network.moves_from(view.state(machine)).map(|by| &network.moves[by]);
                let empty = moves.filter(|by| view.head(by.channel as usize).is_none());
                empty.map(|by| network.message(by.message).0).collect()
            }
        };
        peers.retain(|&peer| wait_of(peer).is_some());
        peers.first().copied()
    };
    let mut path: Vec<MachineIndex> =
        waiting.first().map(|(machine, _)| *machine).into_iter().collect();
    while let Some(to) = path.last().and_then(|&last| next(last)) {
        if let Some(start) = path.iter().position(|&machine| machine == to) {
            return path.split_off(start);
        }
        path.push(to);
    }
    vec![]
}
