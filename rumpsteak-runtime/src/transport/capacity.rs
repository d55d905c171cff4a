//! How large a queue is.

/// How many messages a queue has room for, and what a sender does when it finds the queue full.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Capacity {
    /// Room for so many messages, and there are never more: a sender never waits. A sender that
    /// finds the queue full panics, which poisons its role.
    AtMost(usize),
    /// Room for any number of messages, as far as memory lasts: a sender never waits.
    #[default]
    Growable,
    /// Room for so many messages: a sender waits while the queue is full. With room for 0 it waits
    /// for ever.
    Waits(usize),
}

/// One direction of a route.
///
/// ```
/// # use rumpsteak_doctests::rumpsteak;
/// use rumpsteak::channel::{Capacity, Queue};
///
/// let queue = Queue::new(Capacity::Waits(2)).between("k", "s");
/// assert_eq!((queue.from, queue.to), ("k", "s"));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Queue {
    /// The name in the protocol of the role that sends; used in messages only, and may be empty.
    pub from: &'static str,
    /// The name in the protocol of the role that receives; used in messages only, and may be empty.
    pub to: &'static str,
    /// How many messages it has room for.
    pub capacity: Capacity,
}

impl Queue {
    /// A queue with this capacity, between roles without names.
    #[must_use]
    pub const fn new(capacity: Capacity) -> Self {
        Self { from: "", to: "", capacity }
    }

    /// The same queue with the names of its roles.
    #[must_use]
    pub const fn between(self, from: &'static str, to: &'static str) -> Self {
        Self { from, to, ..self }
    }
}
