//! Routes: what connects two roles.
//!
//! A route is any pair of a [`Sink`](futures_sink::Sink) and a [`Stream`](futures_core::Stream) in
//! a [`Bidirectional`], with [`Nil`] for a half that is not needed. The verification assumes what
//! PPoPP'22 §2 assumes: each direction of a route is a first-in first-out queue that loses nothing
//! and never refuses a message for want of room. [`Channel`](crate::Channel) is such a queue in
//! memory.
//!
//! A bounded queue makes a sender wait, and waiting senders can deadlock where the verified session
//! would not: a `Channel` is bounded only where the build script has proven that they do not. Give
//! a queue of your own room for all messages that can be under way at once.
//!
//! A transport that is neither a sink nor a stream can implement [`Link`], [`Outgoing`] and
//! [`Incoming`] itself, with a [`Mark`] at each end, and [`Pair`] if a set of roles is to
//! create its ends.

mod bidirectional;
pub(crate) mod capacity;
pub(crate) mod link;
pub(crate) mod mark;
mod pair;

pub use self::bidirectional::{Bidirectional, Half, Nil};
pub use self::link::{Arrival, Incoming, Left, Link, Movable, Outgoing, RouteError};
pub use self::mark::Mark;
pub use self::pair::Pair;
pub use crate::message::Labelled;
pub use crate::role::Route;
pub use crate::role::wiring::{Joins, Seats, Wire};
