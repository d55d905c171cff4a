//! Three adder (COORDINATION'21, §3): `a` and `b` exchange a number each and pass it on, and `c`
//! sends the sum to both.

pub mod mpst;
pub mod oneshot;
pub mod ours;

/// The results of `a` and `b`.
pub(crate) type Sums = (i32, i32);
