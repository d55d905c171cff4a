//! Channels: queues in memory, from one role to another, of the size that the build script proved.
//!
//! Each direction of a route has one sender and one receiver, so its messages go through a ring: a
//! fixed piece of memory that one side writes and the other reads, without a lock and without an
//! allocation for each message. A [`Capacity`] says how large the ring is, and what happens when it
//! is full:
//!
//! | capacity | a sender at a full ring | where it comes from |
//! |---|---|---|
//! | [`AtMost`](Capacity::AtMost) | panics: it was proven that this never happens | the sessions never have more messages under way |
//! | [`Waits`](Capacity::Waits) | waits for the receiver | there may be any number under way, but it was proven that waiting cannot deadlock |
//! | [`Growable`](Capacity::Growable) | goes on in a new ring of twice the size | nothing was proven |
//!
//! The receiver goes on to the new ring once it has emptied the old one. So a growable queue is
//! first in first out too, and costs what a ring costs once it is as large as it gets.
//!
//! # Order of changes and wake-ups
//!
//! The side that makes a change (a message, room, a new ring, an end that is gone) makes it visible
//! first and wakes the other side afterwards. The side that waits leaves its waker first, and waits
//! only if nothing has changed since. The module `parking` has the argument; `models` lets loom try
//! every interleaving of it.

mod parking;
mod queue;
mod receiver;
mod ring;
mod sender;
mod shared;

#[cfg(all(test, rumpsteak_loom))]
mod models;

pub use self::queue::{Channel, Receiver, Sender};
pub use self::receiver::QueueReceiver;
pub use self::sender::QueueSender;
pub(crate) use self::sender::leave;
pub use crate::transport::capacity::{Capacity, Queue};
pub use crate::transport::link::Disconnected;
