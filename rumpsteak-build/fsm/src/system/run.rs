//! Runs: the steps by which a system goes wrong.

use std::collections::VecDeque;
use std::fmt;

use super::System;
use super::composition::is_end;
use crate::machine::{Action, Direction, Fsm, IndexSet, Message, Role, StateId, TransitionId};

/// A run of a [`System`] that ends badly.
///
/// [`chart`](Self::chart) draws it. Time runs downwards; `▷` is a message that enters its queue,
/// `●` is a message that is taken out.
///
/// ```text
///      s                      k                      t
///   1  ├─────────value───────▷│                      │
///   2  │                      ● value                │
///      │                      │                      │
///   s waits for ready from k
///   k waits for ready from t
///   t waits for value from k
///   no role can move
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The failure at the end.
    pub failure: Failure,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The state of each machine at the end, in the order of the system.
    pub states: Vec<(Role, StateId)>,
    /// The queues that are not empty at the end.
    pub queues: Vec<Queue>,
    /// The roles that wait at the end: those in a receiving state that cannot move.
    pub waits: Vec<Wait>,
}

/// The failure at the end of a [`Run`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// No role can move, and at least one is not finished.
    Deadlock,
    /// A message will never be received.
    Orphan {
        /// Its sender.
        from: Role,
        /// Its receiver.
        to: Role,
    },
    /// A role waits for a message that can never come, while others may go on.
    Starvation(Role),
    /// A role cannot receive the next message in the state where it waits for it.
    UnspecifiedReception {
        /// The sender.
        from: Role,
        /// The receiver.
        to: Role,
    },
    /// A role can send or receive this message here. The message never comes, so a role that waits
    /// for it hangs.
    Never {
        /// The role.
        role: Role,
        /// The receive.
        action: Action,
        /// A send of the role that has to come first, if one is known.
        after: Option<Action>,
    },
    /// A role may be neglected from here on in a fair run; the others go on.
    Neglect(Neglected),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock => write!(f, "no role can move"),
            Self::Orphan { from, to } => write!(f, "{to} never receives the message from {from}"),
            Self::Starvation(role) => write!(f, "{role} waits for ever"),
            Self::UnspecifiedReception { from, to } => {
                write!(f, "{to} cannot receive the next message from {from}")
            }
            Self::Never { role, action: Action { peer, message, .. }, after } => {
                write!(f, "`{message}` from `{peer}` cannot come while `{role}` is here")?;
                let Some(Action { peer, message, .. }) = after else { return Ok(()) };
                write!(f, ": it comes only after `{message}` was sent to `{peer}`")
            }
            Self::Neglect(neglected) => neglected.fmt(f),
        }
    }
}

/// A role that some fair run neglects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Neglected {
    /// The role that waits, or does not receive.
    pub role: Role,
    /// The sender of the message that is not received. `None` if `role` waits for ever.
    pub from: Option<Role>,
    /// True if the role merely waits to be asked: it has begun nothing, or is back where its loop
    /// begins, and receives there. A server does that.
    pub is_idle: bool,
    /// At most four sends that go on for ever meanwhile.
    pub meanwhile: Vec<Step>,
}

impl Neglected {
    /// The consequence, in one sentence without a full stop.
    pub fn meaning(&self) -> String {
        let meanwhile = match &self.from {
            None => format!("none of them ever has to send to `{}`", self.role),
            Some(from) => format!("the message from `{from}` stays in its queue"),
        };
        format!("no deadlock: the others go on, and {meanwhile}")
    }
}

impl fmt::Display for Neglected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, from, meanwhile, .. } = self;
        match from {
            None => write!(f, "`{role}` may wait for ever")?,
            Some(from) => write!(f, "`{role}` may never receive what `{from}` sends to it")?,
        }
        for (number, Step { role, action, .. }) in meanwhile.iter().enumerate() {
            let before = if number == 0 { ", if others go on for ever with" } else { " and" };
            write!(f, "{before} `{}` from `{role}` to `{}`", action.message, action.peer)?;
        }
        Ok(())
    }
}

/// One step of a [`Run`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The role that moves.
    pub role: Role,
    /// The transition of its machine.
    pub transition: TransitionId,
    /// The action of the transition.
    pub action: Action,
}

/// Writes steps in a line, with repetitions folded: `` `A`: `B!x` ×57 ``, or
/// `` (`A`: `B!x`, `B`: `A?x`) ×57 ``.
///
/// Cost: O(steps · 24²), because a repetition has at most 24 steps.
pub fn fold(steps: &[Step]) -> String {
    const LONGEST: usize = 24;
    let (mut parts, mut rest) = (vec![], steps);
    while !rest.is_empty() {
        let times = |length: usize| {
            rest.chunks(length).take_while(|chunk| *chunk == &rest[..length]).count()
        };
        let lengths = (1..=LONGEST.min(rest.len())).map(|length| (length, times(length)));
        // Of repetitions that cover the same steps, the shortest.
        let repeated = lengths.rev().filter(|&(_, times)| times > 1);
        let (length, times) =
            repeated.max_by_key(|(length, times)| length * times).unwrap_or((1, 1));
        let step = |step: &Step| format!("`{}`: `{}`", step.role, step.action);
        let written = rest[..length].iter().map(step).collect::<Vec<_>>().join(", ");
        parts.push(match (length, times) {
            (_, 1) => written,
            (1, times) => format!("{written} ×{times}"),
            (_, times) => format!("({written}) ×{times}"),
        });
        rest = &rest[length * times..];
    }
    parts.join(", ")
}

/// A queue and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The sender.
    pub from: Role,
    /// The receiver.
    pub to: Role,
    /// The messages, oldest first; at least one.
    pub messages: Vec<Message>,
}

/// A role that cannot move because it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The role.
    pub role: Role,
    /// The state of its machine.
    pub state: StateId,
    /// The receives of that state.
    pub transitions: Vec<(TransitionId, Action)>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages = self.transitions.iter().map(|(_, action)| action.message.to_string());
        let messages = messages.collect::<Vec<_>>().join(" or ");
        let peers = self.transitions.iter().map(|(_, action)| action.peer.as_str());
        let peers = Vec::from_iter(peers.collect::<IndexSet<&str>>()).join(" or ");
        write!(f, "{} waits for {messages} from {peers}", self.role)
    }
}

impl Run {
    /// Performs the steps on `system`. Returns true if they lead where the run says, and its
    /// failure is there.
    ///
    /// This is written apart from the exploration, over plain queues, so that each checks the
    /// other. A run cannot show all continuations. So for a starvation it checks that the role
    /// waits, and for a message that its receiver never takes, that the message is there.
    pub fn replay(&self, system: &System) -> bool {
        let again = Self::of(system, self.steps.clone(), self.failure.clone());
        again.is_some_and(|again| again == *self)
    }

    /// The transition of a receive that [never](Failure::Never) happens.
    pub fn never(&self, machine: &Fsm) -> Option<TransitionId> {
        let Failure::Never { action, .. } = &self.failure else { return None };
        let (_, state) = self.states.iter().find(|(role, _)| role == machine.role())?;
        let mut here = machine.transitions_from(*state).filter(|by| by.action == action);
        here.next().map(|by| by.id)
    }

    /// The run with these steps. `None` if a step is not possible or the failure is not there.
    pub(crate) fn of(system: &System, steps: Vec<Step>, failure: Failure) -> Option<Self> {
        let end = Replay::new(system, &steps).filter(|end| end.shows(&failure))?;
        let roles = system.machines().iter().map(|machine| machine.role().clone());
        let states = roles.zip(end.states.iter().copied()).collect();
        let (queues, waits) = (end.queues(), end.waits());
        Some(Self { failure, steps, states, queues, waits }.without_ends())
    }

    /// The run without the messages that stand for ends: the reader knows none of them.
    fn without_ends(mut self) -> Self {
        let waits = |of: &Wait| of.transitions.iter().any(|(_, due)| is_end(&due.message));
        if let Failure::UnspecifiedReception { from, to } = &self.failure {
            let (from, to) = (from.clone(), to.clone());
            let mut ended = self.queues.iter().filter(|of| of.to == to && is_end(&of.messages[0]));
            let is_over = self.waits.iter().any(|of| of.role == to && waits(of));
            if ended.clone().any(|queue| queue.from == from) {
                self.failure = Failure::Starvation(to);
            } else if is_over || ended.next().is_some() {
                self.failure = Failure::Orphan { from, to };
            }
        }
        self.steps.retain(|step| !is_end(&step.action.message));
        self.waits.retain(|wait| !waits(wait));
        self.queues.iter_mut().for_each(|queue| queue.messages.retain(|of| !is_end(of)));
        self.queues.retain(|queue| !queue.messages.is_empty());
        self
    }
}

/// A configuration over plain queues.
struct Replay<'a> {
    system: &'a System,
    states: Vec<StateId>,
    /// `queues[from][to]`
    queues: Vec<Vec<VecDeque<&'a Message>>>,
}

impl<'a> Replay<'a> {
    fn new(system: &'a System, steps: &[Step]) -> Option<Self> {
        let machines = system.machines();
        let mut replay = Self {
            system,
            states: machines.iter().map(|machine| machine.initial()).collect(),
            queues: vec![vec![VecDeque::new(); machines.len()]; machines.len()],
        };
        steps.iter().try_for_each(|step| replay.step(step))?;
        Some(replay)
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        let mover = self.system.index_of(&step.role)?;
        let mut here = self.system.machines()[mover].transitions_from(self.states[mover]);
        let by = here.find(|by| by.id == step.transition && *by.action == step.action)?;
        let Action { peer, direction, message } = by.action;
        let peer = self.system.index_of(peer)?;
        match direction {
            Direction::Send => self.queues[mover][peer].push_back(message),
            Direction::Receive => {
                self.queues[peer][mover].pop_front().filter(|head| *head == message)?;
            }
        }
        self.states[mover] = by.target;
        Some(())
    }

    fn queues(&self) -> Vec<Queue> {
        let machines = self.system.machines();
        let mut queues = vec![];
        for (from, row) in self.queues.iter().enumerate() {
            for (to, queue) in row.iter().enumerate().filter(|(_, queue)| !queue.is_empty()) {
                queues.push(Queue {
                    from: machines[from].role().clone(),
                    to: machines[to].role().clone(),
                    messages: queue.iter().map(|&message| message.clone()).collect(),
                });
            }
        }
        queues
    }

    fn can_move(&self, mover: usize) -> bool {
        self.system.machines()[mover].transitions_from(self.states[mover]).any(|transition| {
            let action = transition.action;
            action.is_send() || self.head(&action.peer, mover) == Some(&action.message)
        })
    }

    fn head(&self, from: &Role, to: usize) -> Option<&'a Message> {
        self.queues[self.system.index_of(from)?][to].front().copied()
    }

    fn waits(&self) -> Vec<Wait> {
        let wait = |(index, machine): (usize, &Fsm)| {
            let state = self.states[index];
            // A role on demand that has got a message waits, even in its initial state.
            let is_asked = self.queues.iter().any(|from| !from[index].is_empty());
            let is_over = machine.is_terminal(state) || (machine.may_end(state) && !is_asked);
            let due = machine.transitions_from(state).map(|by| (by.id, by.action.clone()));
            let (role, transitions) = (machine.role().clone(), due.collect());
            (!is_over && !self.can_move(index)).then_some(Wait { role, state, transitions })
        };
        self.system.machines().iter().enumerate().filter_map(wait).collect()
    }

    fn shows(&self, failure: &Failure) -> bool {
        let machines = self.system.machines();
        match failure {
            Failure::Deadlock => {
                !(0..machines.len()).any(|index| self.can_move(index)) && !self.waits().is_empty()
            }
            Failure::Starvation(role) | Failure::Neglect(Neglected { role, from: None, .. }) => {
                self.waits().iter().any(|wait| wait.role == *role)
            }
            Failure::Orphan { from, to }
            | Failure::Neglect(Neglected { role: to, from: Some(from), .. }) => {
                self.system.index_of(to).is_some_and(|to| self.head(from, to).is_some())
            }
            Failure::Never { role, action, .. } => self.system.index_of(role).is_some_and(|own| {
                let mut due = machines[own].transitions_from(self.states[own]);
                let is_there = self.head(&action.peer, own) == Some(&action.message);
                due.any(|due| due.action == action) && !is_there
            }),
            Failure::UnspecifiedReception { from, to } => self.waits().iter().any(|wait| {
                let Some(index) = self.system.index_of(to) else { return false };
                wait.role == *to
                    && self.head(from, index).is_some()
                    && wait.transitions.iter().any(|(_, action)| action.peer == *from)
                    // A role that listens to several peers is stuck only if each of them sent
                    // something else.
                    && wait.transitions.iter().all(|(_, action)| self.head(&action.peer, index).is_some())
            }),
        }
    }
}
