//! Actions: a message sent to a peer or received from one.

use std::fmt;

use super::{Label, Role, Sort, StateId, TransitionId};

/// The direction of a message, seen from the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From a peer to this machine, written `?`.
    Receive,
    /// From this machine to a peer, written `!`.
    Send,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Receive => "?",
            Self::Send => "!",
        })
    }
}

/// A label and the sorts of its payload: `value(i32)`. Payloads have sorts and no names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// The label.
    pub label: Label,
    /// The sorts of the payload, in order.
    pub payload: Vec<Sort>,
}

/// `ready` without a payload, `value(i32, u8)` with one.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.label)?;
        for (index, sort) in self.payload.iter().enumerate() {
            write!(f, "{}{sort}", if index == 0 { "(" } else { ", " })?;
        }
        f.write_str(if self.payload.is_empty() { "" } else { ")" })
    }
}

/// A message sent to a peer or received from one: `s!ready`, `t?value(i32)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action {
    /// The other role.
    pub peer: Role,
    /// The direction of the message.
    pub direction: Direction,
    /// The message.
    pub message: Message,
}

impl Action {
    /// `peer!label(payload)`.
    pub fn send(peer: impl Into<Role>, label: impl Into<Label>, payload: &[&str]) -> Self {
        Self::new(peer.into(), Direction::Send, label.into(), payload)
    }

    /// `peer?label(payload)`.
    pub fn receive(peer: impl Into<Role>, label: impl Into<Label>, payload: &[&str]) -> Self {
        Self::new(peer.into(), Direction::Receive, label.into(), payload)
    }

    /// True if it sends, false if it receives.
    pub fn is_send(&self) -> bool {
        self.direction == Direction::Send
    }

    fn new(peer: Role, direction: Direction, label: Label, payload: &[&str]) -> Self {
        let payload = payload.iter().map(|&sort| sort.into()).collect();
        Self { peer, direction, message: Message { label, payload } }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.peer, self.direction, self.message)
    }
}

/// One transition of a machine, borrowed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition<'a> {
    /// The id.
    pub id: TransitionId,
    /// The source.
    pub source: StateId,
    /// The action.
    pub action: &'a Action,
    /// The target.
    pub target: StateId,
}
