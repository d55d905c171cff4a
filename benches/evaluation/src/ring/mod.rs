//! One lap of a ring of three (COORDINATION'21, §3): each sends a value of its own to the next.

pub mod mpst;
pub mod oneshot;
pub mod ours;

/// What each role received, from `a` on.
pub(crate) type Received = (i32, i32, i32);

/// What each role sends, from `a` on.
pub(crate) const SENT: Received = (2, 3, 4);

/// What each role has to receive.
pub(crate) const EXPECTED: Received = (4, 2, 3);
