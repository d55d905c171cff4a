//! The queues of a system: which messages share one, how many it holds, and what a send does if it
//! is full.

use litemap::LiteMap;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::machine::{Action, Direction, Label, Role};
use crate::system::{System, SystemError};

/// A queue of a system.
///
/// As text: `a->b`, `a->b:stop,pause` or `b`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Queue {
    /// The sender. `None` for a *mailbox*: one queue for all senders, as an actor has. The role
    /// receives only at its head.
    pub from: Option<Role>,
    /// The receiver, which may be the sender.
    pub to: Role,
    /// The labels of its messages, if it is a second queue. Empty for all other messages.
    pub labels: Vec<Label>,
}

/// `the queue from a to b`, in a sentence.
impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, labels } = self;
        match from {
            Some(from) => write!(f, "the queue from {from} to {to}")?,
            None => write!(f, "the mailbox of {to}")?,
        }
        let labels: Vec<&str> = labels.iter().map(Label::as_str).collect();
        if labels.is_empty() { Ok(()) } else { write!(f, " for {}", labels.join(", ")) }
    }
}

impl FromStr for Queue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (ends, labels) = match text.split_once(':') {
            Some((ends, labels)) => (ends, labels.split(',').map(str::trim).collect()),
            None => (text, vec![]),
        };
        let (from, to) = match ends.split_once("->") {
            Some((from, to)) => (Some(from.trim()), to.trim()),
            None => (None, ends.trim()),
        };
        let is_wrong = |name: &&str| name.is_empty() || name.contains("->");
        if from.iter().chain([&to]).chain(&labels).any(is_wrong) {
            return Err("write `a->b`, `a->b:label`, or `b` for the mailbox of `b`".to_owned());
        }
        let labels = labels.into_iter().map(Label::from).collect();
        Ok(Self { from: from.map(Role::from), to: to.into(), labels })
    }
}

/// The queues of a system, and what a send does if its queue is full.
///
/// By default there is an unbounded queue for each ordered pair of roles.
///
/// ```
/// use rumpsteak_fsm::bounded::Topology;
///
/// // 64 places for each pair of roles, except that all senders of `b` share 8 places.
/// let topology = Topology::default().capacity(64).bound("b".parse()?, 8);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Topology {
    pub(super) capacity: Option<usize>,
    named: LiteMap<Queue, Named>,
    pub(super) races: Vec<Role>,
}

/// The settings of a named queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Named {
    /// `None` if it has the capacity of all queues.
    capacity: Option<usize>,
    drops: bool,
}

/// A queue with its settings.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) queue: Queue,
    /// `None` if it is unbounded.
    pub(super) capacity: Option<u32>,
    /// True if it has the capacity of all queues.
    pub(super) is_scaled: bool,
    pub(super) drops: bool,
}

impl Topology {
    /// Gives this capacity to every queue that has none of its own. With 0, a send waits until its
    /// receiver takes the message (a rendezvous).
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = Some(capacity);
        self
    }

    /// Gives a capacity to one queue. A mailbox, or a queue for some labels, exists if it is named
    /// here or in [`mailbox`](Self::mailbox).
    pub fn bound(mut self, queue: Queue, capacity: usize) -> Self {
        self.named.entry(queue).or_default().capacity = Some(capacity);
        self
    }

    /// Gives a role one queue for all of its senders.
    pub fn mailbox(mut self, to: impl Into<Role>) -> Self {
        self.named.entry(Queue { from: None, to: to.into(), labels: vec![] }).or_default();
        self
    }

    /// Drops a message that is sent while this queue is full, as `try_send` does. The sender goes
    /// on.
    pub fn drops(mut self, queue: Queue) -> Self {
        self.named.entry(queue).or_default().drops = true;
        self
    }

    /// Lets a role *race* in each state that both sends and receives: it does whichever is possible
    /// first. Without this, it may choose to send before there is room, and then only sends.
    pub fn race(mut self, role: impl Into<Role>) -> Self {
        self.races.push(role.into());
        self
    }

    pub(super) fn queue_of(&self, role: &Role, action: &Action) -> Queue {
        let (from, to) = match action.direction {
            Direction::Send => (role, &action.peer),
            Direction::Receive => (&action.peer, role),
        };
        let fits = |queue: &&Queue| {
            queue.to == *to
                && queue.from.as_ref().is_none_or(|own| own == from)
                && (queue.labels.is_empty() || queue.labels.contains(&action.message.label))
        };
        let fitting = self.named.keys().filter(fits);
        let named = fitting.max_by_key(|queue| (!queue.labels.is_empty(), queue.from.is_none()));
        let pair = || Queue { from: Some(from.clone()), to: to.clone(), labels: vec![] };
        named.cloned().unwrap_or_else(pair)
    }

    pub(super) fn place(&self, queue: Queue) -> Place {
        let Named { capacity, drops } = self.named.get(&queue).copied().unwrap_or_default();
        let most = capacity.or(self.capacity);
        Place {
            capacity: most.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
            is_scaled: capacity.is_none() && most.is_some(),
            queue,
            drops,
        }
    }

    /// Checks the settings against the machines, and the queues that messages use.
    pub(super) fn check(&self, system: &System, used: &[Place]) -> Result<(), TopologyError> {
        let ends = self.named.keys().flat_map(|queue| queue.from.iter().chain([&queue.to]));
        let mut roles = ends.chain(&self.races);
        if let Some(unknown) = roles.find(|role| system.index_of(role).is_none()) {
            return Err(TopologyError::UnknownRole(unknown.clone()));
        }
        for (queue, named) in &self.named {
            if used.iter().all(|place| place.queue != *queue) {
                return Err(TopologyError::Unused(queue.clone()));
            } else if named.drops && matches!(named.capacity.or(self.capacity), None | Some(0)) {
                return Err(TopologyError::NeverDrops(queue.clone()));
            }
        }
        Ok(())
    }
}

/// Why machines and queues do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopologyError {
    /// The machines do not form a system.
    System(SystemError),
    /// The topology names a role that has no machine.
    UnknownRole(Role),
    /// The topology names a queue that no message uses.
    Unused(Queue),
    /// A queue that drops messages has no capacity, or capacity 0.
    NeverDrops(Queue),
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::UnknownRole(role) => write!(f, "there is no machine of `{role}`"),
            Self::Unused(queue) => {
                let to = &queue.to;
                write!(f, "no message uses {queue}; if `{to}` has a mailbox, its name is `{to}`")
            }
            Self::NeverDrops(queue) => {
                write!(f, "{queue} drops messages if it is full; give it a capacity of 1 or more")
            }
        }
    }
}

impl Error for TopologyError {}
