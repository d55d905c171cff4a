//! Channels: queues in memory from one role to another, with the capacity that was proven.
//!
//! Each direction of a route has one sender and one receiver, so its messages go through a ring: a
//! fixed piece of memory that one side writes and the other reads, without locks and without an
//! allocation per message. [`guide::channels`](crate::guide::channels) says which [`Capacity`] the
//! build script chooses. A [growable](Capacity::Growable) queue continues in a new ring of twice
//! the size. Its receiver enters the new ring once it has emptied the old one, so this queue is
//! first in, first out too.
//!
//! # Order of changes and wake-ups
//!
//! A side first makes its change visible (a message, room, a new ring, a dropped end) and then
//! wakes the other side. A waiting side first stores its waker and then checks that nothing has
//! changed. The module `parking` has the argument; `models` checks every interleaving with loom.

mod parking;
mod queue;
mod receiver;
mod ring;
mod sender;
mod sessions;
mod shared;

#[cfg(all(test, rumpsteak_loom))]
mod models;

pub use self::queue::{Channel, Receiver, Sender};
pub use self::receiver::QueueReceiver;
pub use self::sender::QueueSender;
pub(crate) use self::shared::leave;
pub use crate::transport::capacity::{Capacity, Queue};
pub use crate::transport::link::Disconnected;
