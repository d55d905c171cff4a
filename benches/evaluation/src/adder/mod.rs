//! Three adder (COORDINATION'21, §3): `a` and `b` exchange a number each and hand on what they were
//! told, and `c` sends the sum to both.

pub mod mpst;
pub mod oneshot;
pub mod ours;

/// What `a` and `b` know at the end.
pub(crate) type Sums = (i32, i32);
