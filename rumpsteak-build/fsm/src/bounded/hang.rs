//! A run after which a role waits for ever, and the waits of all roles at its end.

use std::fmt;

use super::{At, Place, Queue, Search, View};
use crate::machine::{Action, Message, Role, TransitionId, lasso};
use crate::system::{Failure, MachineIndex, Node, Step};

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
    /// The queues that are not empty at the end, with the sender and the message at their head.
    pub heads: Vec<(Queue, Role, Message)>,
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
                write!(f, "{role} waits until {} takes a message from {queue}", queue.to)
            }
            Some((queue, capacity)) => {
                write!(f, "{role} waits for room in {queue}, which is full ({capacity})")
            }
            None => {
                let wanted = actions.iter();
                let wanted = wanted.map(|(_, by)| format!("{} from {}", by.message, by.peer));
                write!(f, "{role} waits for {}", wanted.collect::<Vec<_>>().join(" or "))
            }
        }
    }
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.failure != Failure::Deadlock {
            return self.failure.fmt(f);
        }
        let waits = self.waits.iter().take(self.cycle.max(1));
        let roles: Vec<&str> = waits.map(|wait| wait.role.as_str()).collect();
        match roles.split_last() {
            None => Ok(()),
            Some((role, [])) => write!(f, "{role} waits for ever"),
            Some((last, others)) => {
                write!(f, "{} and {last} wait for each other", others.join(", "))
            }
        }
    }
}

impl Hang {
    pub(super) fn at(search: &Search<'_>, node: Node, failure: Failure) -> Self {
        let (network, view) = (search.network, At(search, node));
        let mut stuck = vec![];
        network.stuck(&view, &mut stuck);
        let waits = |&machine: &MachineIndex| match &failure {
            Failure::Starvation(role) => network.machines.role(machine) == *role,
            _ => stuck[machine] && !network.is_finished(&view, machine),
        };
        let waiting = (0..stuck.len()).filter(waits);
        let waiting = waiting.map(|machine| Wait::of(&view, &stuck, machine));
        let (mut waits, helpers): (Vec<Wait>, Vec<_>) = waiting.unzip();
        let is_deadlock = failure == Failure::Deadlock;
        let cycle = if is_deadlock { cycle(&waits, &helpers) } else { vec![] };
        let place = |own: &Wait| cycle.iter().position(|role| *role == own.role);
        waits.sort_by_key(|own| place(own).unwrap_or(cycle.len()));
        let heads = network.queues.iter().enumerate().filter_map(|(queue, place)| {
            let (from, message) = network.message(view.head(queue)?)?;
            Some((place.queue.clone(), from, message))
        });
        Self {
            steps: network.steps(&search.paths.to(node)),
            is_shortest: is_deadlock,
            cycle: cycle.len(),
            heads: heads.collect(),
            every_capacity_from: None,
            waits,
            failure,
        }
    }
}

impl Wait {
    /// The wait of a machine, and the roles that could end it.
    fn of(view: &At<'_>, stuck: &[bool], machine: MachineIndex) -> (Self, Vec<Role>) {
        let network = view.0.network;
        let moves = network.moves_from(view.state(machine));
        let by = |number: usize| network.machines.get(number);
        let mut sends = moves.clone().filter(|&number| by(number).is_send);
        let dead = sends.clone().find(|&number| network.is_dead(view, stuck, number));
        // A starving role may wait for room that others could make, but never do.
        let send = dead.or_else(|| sends.next());
        let place = send.map(|send| &network.queues[by(send).channel as usize]);
        let moves = send.map_or(moves, |send| send..send + 1);
        let helps = |&number: &usize| {
            by(number).is_send || view.head(by(number).channel as usize).is_none()
        };
        let helpers = moves.clone().filter(helps);
        let helpers = helpers.map(|number| network.machines.role(network.peers[number])).collect();
        let steps = network.machines.steps(&moves.map(|by| by as u32).collect::<Vec<_>>());
        let capacity = |place: &Place| place.capacity.unwrap_or(u32::MAX) as usize;
        let wait = Self {
            role: network.machines.role(machine),
            actions: steps.into_iter().map(|step| (step.transition, step.action)).collect(),
            full: place.map(|place| (place.queue.clone(), capacity(place))),
        };
        (wait, helpers)
    }
}

/// Roles that wait in a cycle, each for the next one. Empty without a cycle.
fn cycle(waits: &[Wait], helpers: &[Vec<Role>]) -> Vec<Role> {
    let onward = |at: u32| {
        let is_waiting = |role: &Role| waits.iter().position(|own| own.role == *role);
        let next = helpers.get(at as usize)?.iter().find_map(is_waiting)?;
        Some((at as usize, next as u32))
    };
    let (_, cycle, _) = lasso(0, onward);
    cycle.into_iter().map(|own| waits[own].role.clone()).collect()
}
