//! The queues of a system: which messages share one, how many it holds, and what a send does if it
//! is full.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::machine::{Action, Direction, Label, Role};
use crate::system::SystemError;

/// A queue of a system.
///
/// As text: `a->b`, `a->b:stop,pause` or `b`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    /// The messages from one role to another, or to itself.
    Pair {
        /// The sender.
        from: Role,
        /// The receiver.
        to: Role,
    },
    /// A second queue from one role to another, for these labels only.
    Labels {
        /// The sender.
        from: Role,
        /// The receiver.
        to: Role,
        /// The labels of its messages.
        labels: Vec<Label>,
    },
    /// One queue for all messages to a role, as an actor has. The role receives only at its head.
    Mailbox {
        /// The receiver.
        to: Role,
    },
}

impl Queue {
    /// The receiver.
    pub fn to(&self) -> &Role {
        match self {
            Self::Pair { to, .. } | Self::Labels { to, .. } | Self::Mailbox { to } => to,
        }
    }

    fn from(&self) -> Option<&Role> {
        match self {
            Self::Pair { from, .. } | Self::Labels { from, .. } => Some(from),
            Self::Mailbox { .. } => None,
        }
    }
}

/// `the queue from a to b`, in a sentence.
impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pair { from, to } => write!(f, "the queue from {from} to {to}"),
            Self::Labels { from, to, labels } => {
                let labels: Vec<&str> = labels.iter().map(Label::as_str).collect();
                write!(f, "the queue from {from} to {to} for {}", labels.join(", "))
            }
            Self::Mailbox { to } => write!(f, "the mailbox of {to}"),
        }
    }
}

impl FromStr for Queue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (ends, labels) = match text.split_once(':') {
            Some((ends, labels)) => (ends, Some(labels)),
            None => (text, None),
        };
        let names: Vec<&str> = ends.split("->").map(str::trim).collect();
        let labels = labels.map(|labels| labels.split(',').map(str::trim).collect::<Vec<_>>());
        let mut all = names.iter().chain(labels.iter().flatten());
        match (&names[..], labels.as_deref()) {
            _ if all.any(|name| name.is_empty()) => {
                Err("a name is missing; write `a->b`, `a->b:label` or `b`".to_owned())
            }
            (&[from, to], None) => Ok(Self::Pair { from: from.into(), to: to.into() }),
            (&[from, to], Some(labels)) => {
                let labels = labels.iter().map(|&label| label.into()).collect();
                Ok(Self::Labels { from: from.into(), to: to.into(), labels })
            }
            (&[to], None) => Ok(Self::Mailbox { to: to.into() }),
            _ => Err("write `a->b`, `a->b:label`, or `b` for the mailbox of `b`".to_owned()),
        }
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
/// let topology = Topology::default().capacity(64).mailbox("b").bound("b".parse()?, 8);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    pub(super) capacity: Option<usize>,
    named: BTreeMap<Queue, Named>,
    races: Vec<Role>,
}

/// The settings of a named queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// `None` if it has the capacity of all queues.
    pub(super) capacity: Option<usize>,
    pub(super) drops: bool,
}

impl Topology {
    /// Gives this capacity to every queue that has none of its own. With 0, a send waits until its
    /// receiver takes the message (a rendezvous).
    #[must_use]
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = Some(capacity);
        self
    }

    /// Gives a capacity to one queue. `Queue::Labels` and `Queue::Mailbox` also make that queue.
    #[must_use]
    pub fn bound(mut self, queue: Queue, capacity: usize) -> Self {
        self.named.entry(queue).or_default().capacity = Some(capacity);
        self
    }

    /// Gives a role one queue for all of its senders.
    #[must_use]
    pub fn mailbox(mut self, to: impl Into<Role>) -> Self {
        self.named.entry(Queue::Mailbox { to: to.into() }).or_default();
        self
    }

    /// Drops a message that is sent while this queue is full, as `try_send` does. The sender goes
    /// on.
    #[must_use]
    pub fn drops(mut self, queue: Queue) -> Self {
        self.named.entry(queue).or_default().drops = true;
        self
    }

    /// Lets a role *race* in each state that both sends and receives: it does whichever is possible
    /// first. Without this, it may choose to send before there is room, and then only sends.
    #[must_use]
    pub fn race(mut self, role: impl Into<Role>) -> Self {
        self.races.push(role.into());
        self
    }

    pub(super) fn races(&self, role: &Role) -> bool {
        self.races.contains(role)
    }

    /// The queue of an action.
    pub(super) fn queue_of(&self, role: &Role, action: &Action) -> Queue {
        let (from, to) = match action.direction {
            Direction::Send => (role, &action.peer),
            Direction::Receive => (&action.peer, role),
        };
        let is_own = |queue: &&Queue| match queue {
            Queue::Labels { labels, .. } => {
                queue.from() == Some(from)
                    && queue.to() == to
                    && labels.contains(&action.message.label)
            }
            Queue::Mailbox { .. } => queue.to() == to,
            Queue::Pair { .. } => false,
        };
        let pair = || Queue::Pair { from: from.clone(), to: to.clone() };
        self.named.keys().find(is_own).cloned().unwrap_or_else(pair)
    }

    pub(super) fn named(&self, queue: &Queue) -> Named {
        self.named.get(queue).copied().unwrap_or_default()
    }

    /// Checks the settings against the queues that messages use, and against the roles.
    pub(super) fn check(
        &self,
        used: &[Queue],
        is_role: impl Fn(&Role) -> bool,
    ) -> Result<(), TopologyError> {
        for (queue, named) in &self.named {
            let is_mailbox = |other: &&Queue| matches!(other, Queue::Mailbox { .. });
            let mut others = self.named.keys().filter(|other| *other != queue);
            let capacity = named.capacity.or(self.capacity);
            if let Some(unknown) =
                [queue.from(), Some(queue.to())].into_iter().flatten().find(|role| !is_role(role))
            {
                return Err(TopologyError::UnknownRole(unknown.clone()));
            } else if others.any(|other| is_mailbox(&other) && other.to() == queue.to()) {
                return Err(TopologyError::HasMailbox(queue.clone()));
            } else if !used.contains(queue) {
                return Err(TopologyError::Unused(queue.clone()));
            } else if named.drops && matches!(capacity, None | Some(0)) {
                return Err(TopologyError::NeverDrops(queue.clone()));
            }
        }
        match self.races.iter().find(|role| !is_role(role)) {
            Some(role) => Err(TopologyError::UnknownRole(role.clone())),
            None => Ok(()),
        }
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
    /// It names a queue to a role that has a mailbox.
    HasMailbox(Queue),
    /// A queue that drops messages has no capacity, or capacity 0.
    NeverDrops(Queue),
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::UnknownRole(role) => write!(f, "there is no machine of `{role}`"),
            Self::Unused(queue) => write!(f, "no message uses {queue}"),
            Self::HasMailbox(queue) => {
                let to = queue.to();
                write!(f, "{queue} does not exist: `{to}` has one mailbox; name it as `{to}`")
            }
            Self::NeverDrops(queue) => {
                write!(f, "{queue} drops messages if it is full; give it a capacity of 1 or more")
            }
        }
    }
}

impl Error for TopologyError {}
