//! Routes between roles.
//!
//! A route is any pair of a [`Sink`](futures_sink::Sink) and a [`Stream`](futures_core::Stream) in
//! a [`Bidirectional`], with [`Nil`] for a missing half. The verification assumes the queues of
//! PPoPP'22 §2: each direction is first in, first out, loses nothing, and always has room.
//! [`Channel`](crate::Channel) is such a queue in memory.
//!
//! A bounded queue makes a sender wait, and waiting senders can deadlock. A `Channel` is bounded
//! only if the build script has proven that they do not. A queue of your own declares its capacity,
//! and the sessions are judged with it: see [`guide::channels`](crate::guide::channels).
//!
//! A transport that is neither a sink nor a stream can implement [`Link`], [`Outgoing`] and
//! [`Incoming`] itself, with a [`Mark`] at each end. Implement [`Pair`] too if a set of roles is to
//! create its ends.

mod bidirectional;
pub(crate) mod capacity;
pub(crate) mod link;
pub(crate) mod mark;
mod members;
mod pair;

pub use self::bidirectional::{Bidirectional, Half, Nil};
#[doc(hidden)]
pub use self::capacity::{KnownRoom, known_room};
pub use self::link::{Arrival, Incoming, Left, Link, Movable, Outgoing, RouteError};
pub use self::mark::Mark;
pub use self::members::{Each, Members};
#[doc(hidden)]
pub use self::members::{JoinsRing, to_family};
pub use self::pair::Pair;
pub use crate::message::Labelled;
pub use crate::role::Route;
pub use crate::role::wiring::{Joins, Seats, Wire};
