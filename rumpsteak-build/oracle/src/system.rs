//! Machines that run together: configurations, and the steps between them. For their meaning, see
//! [`explore`](crate::explore).

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::fmt;

use rumpsteak_fsm::{Direction, Fsm, Message, Role, StateId, TransitionId};

use crate::mutation::Draft;

/// Machines that run together, as their roles name each other.
#[derive(Clone, Debug)]
pub struct System {
    pub(crate) machines: Vec<Fsm>,
    /// For each machine and transition the queue that it uses, as sender and receiver.
    pub(crate) channels: Vec<Vec<(usize, usize)>>,
    /// For each machine and transition the number of its message.
    numbers: Vec<Vec<usize>>,
    /// All messages, by number.
    pub(crate) messages: Vec<Message>,
}

/// The error of machines that do not form a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemError {
    /// Two machines play this role.
    Twice(Role),
    /// The machine of the first role speaks to the second, which no machine plays.
    Missing(Role, Role),
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(role) => write!(f, "two machines play `{role}`"),
            Self::Missing(role, peer) => {
                write!(f, "`{role}` speaks to `{peer}`, which no machine plays")
            }
        }
    }
}

impl Error for SystemError {}

/// The machine of a role on demand, which begins again when it is finished; other machines
/// unchanged.
fn again(fsm: &Fsm) -> Fsm {
    if !fsm.is_on_demand() {
        return fsm.clone();
    }
    let mut draft = Draft::from(fsm);
    let ends: Vec<bool> = draft.states.iter().map(Vec::is_empty).collect();
    for (_, target) in draft.states.iter_mut().flatten().filter(|(_, target)| ends[*target]) {
        *target = draft.initial;
    }
    draft.build().on_demand(true)
}

/// The states of all machines, and the messages under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The state of each machine, in the order of the system's machines.
    pub states: Vec<StateId>,
    /// The numbers of the messages from one machine to another, oldest first; no entry for an empty
    /// queue.
    pub queues: BTreeMap<(usize, usize), VecDeque<usize>>,
}

/// One machine takes one transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The machine, by its position in the system.
    pub machine: usize,
    /// The transition of that machine.
    pub transition: TransitionId,
}
impl System {
    /// Puts `machines` together.
    ///
    /// # Errors
    /// If two machines play one role, or a machine speaks to a role that none plays.
    pub fn new(machines: Vec<Fsm>) -> Result<Self, SystemError> {
        let machines: Vec<Fsm> = machines.iter().map(again).collect();
        let position = |role: &Role| machines.iter().position(|m| m.role() == role);
        let (mut channels, mut numbers, mut messages) = (vec![], vec![], vec![]);
        for (index, machine) in machines.iter().enumerate() {
            if position(machine.role()) != Some(index) {
                return Err(SystemError::Twice(machine.role().clone()));
            }
            let mut own = vec![];
            for transition in machine.transitions() {
                let action = transition.action;
                let Some(peer) = position(&action.peer) else {
                    let (role, peer) = (machine.role().clone(), action.peer.clone());
                    return Err(SystemError::Missing(role, peer));
                };
                own.push(match action.direction {
                    Direction::Send => (index, peer),
                    Direction::Receive => (peer, index),
                });
            }
            channels.push(own);
            let number = |message: &Message| {
                messages.iter().position(|known| known == message).unwrap_or_else(|| {
                    messages.push(message.clone());
                    messages.len() - 1
                })
            };
            numbers.push(machine.transitions().map(|t| &t.action.message).map(number).collect());
        }
        Ok(Self { machines, channels, numbers, messages })
    }

    pub(crate) fn number(&self, machine: usize, transition: TransitionId) -> usize {
        self.numbers[machine][transition.index()]
    }

    pub(crate) fn message(&self, number: usize) -> &Message {
        &self.messages[number]
    }

    /// The machines, in the order of [`Configuration::states`].
    pub fn machines(&self) -> &[Fsm] {
        &self.machines
    }

    /// All machines in their initial states, all queues empty.
    pub fn initial(&self) -> Configuration {
        Configuration {
            states: self.machines.iter().map(Fsm::initial).collect(),
            queues: BTreeMap::new(),
        }
    }

    /// The queue that a transition uses, as sender and receiver.
    pub(crate) fn channel(&self, machine: usize, transition: TransitionId) -> (usize, usize) {
        self.channels[machine][transition.index()]
    }

    /// The configuration after `step`, if the step can be taken; queues may grow without bound.
    pub fn fire(&self, configuration: &Configuration, step: Step) -> Option<Configuration> {
        let machine = self.machines.get(step.machine)?;
        if step.transition.index() >= machine.transition_count() {
            return None;
        }
        let transition = machine.transition(step.transition);
        if transition.source != configuration.states[step.machine] {
            return None;
        }
        let channel = self.channel(step.machine, step.transition);

        let mut next = configuration.clone();
        next.states[step.machine] = transition.target;
        let mut queue = next.queues.remove(&channel).unwrap_or_default();
        match transition.action.direction {
            Direction::Send => queue.push_back(self.number(step.machine, step.transition)),
            Direction::Receive => {
                if queue.pop_front() != Some(self.number(step.machine, step.transition)) {
                    return None;
                }
            }
        }
        if !queue.is_empty() {
            next.queues.insert(channel, queue);
        }
        // A role that has ended drops what is late.
        next.queues.retain(|&(from, to), queue| {
            let [sender, receiver] = [from, to].map(|at| &self.machines[at]);
            if let Some(late) = receiver.late().get(sender.role())
                && receiver.is_terminal(next.states[to])
            {
                queue.retain(|&number| !late.contains(&self.messages[number]));
            }
            !queue.is_empty()
        });
        Some(next)
    }

    /// Every step that can be taken, with the configuration after it.
    pub fn successors(&self, configuration: &Configuration) -> Vec<(Step, Configuration)> {
        let mut successors = vec![];
        for (machine, fsm) in self.machines.iter().enumerate() {
            for transition in fsm.transitions_from(configuration.states[machine]) {
                let step = Step { machine, transition: transition.id };
                if let Some(next) = self.fire(configuration, step) {
                    successors.push((step, next));
                }
            }
        }
        successors
    }

    /// The configuration after all of `run`, or the number of possible steps.
    ///
    /// # Errors
    /// The position of the first step that cannot be taken.
    pub fn replay(&self, run: &[Step]) -> Result<Configuration, usize> {
        let mut configuration = self.initial();
        for (position, &step) in run.iter().enumerate() {
            configuration = self.fire(&configuration, step).ok_or(position)?;
        }
        Ok(configuration)
    }
}
