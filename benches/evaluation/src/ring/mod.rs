//! One lap of a ring of three (COORDINATION'21, §3): each sends a value of its own to the next.

pub mod mpst;
pub mod oneshot;
pub mod ours;

/// The received values of the roles, from `a` on.
pub(crate) type Received = (i32, i32, i32);

/// The sent values of the roles, from `a` on.
pub(crate) const SENT: Received = (2, 3, 4);

/// The expected values of the roles.
pub(crate) const EXPECTED: Received = (4, 2, 3);
