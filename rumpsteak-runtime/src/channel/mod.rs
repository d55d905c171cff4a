//! Channels: queues in memory from one role to another, with the capacity that the build script
//! proved.
//!
//! Each direction of a route has one sender and one receiver, so its messages go through a ring: a
//! fixed piece of memory that one side writes and the other reads, without locks and without an
//! allocation per message. A [`Capacity`] says how large the ring is and what happens when it is
//! full:
//!
//! | capacity | a sender at a full ring | when the build script chooses it |
//! |---|---|---|
//! | [`AtMost`](Capacity::AtMost) | panics: it was proven that this never happens | the sessions never have more messages in flight |
//! | [`Waits`](Capacity::Waits) | waits for the receiver | any number of messages can be in flight, but waiting is proven not to deadlock |
//! | [`Growable`](Capacity::Growable) | continues in a new ring of twice the size | nothing was proven |
//!
//! The receiver continues in the new ring once it has emptied the old one, so a growable queue is
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
