#![doc = include_str!("fair.md")]

use super::Invariant;
use crate::machine::StateId;

/// The evidence that one machine is a fair subtype of another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FairInvariant {
    /// The judgements; the ranks of their pending words do not matter.
    pub invariant: Invariant,
    /// By judgement, a number that falls with each `Match`, if the subtype chooses well, until
    /// nothing is pending.
    pub drains: Vec<u32>,
    /// By judgement, a number that falls with each `Ahead`, except in states that are left.
    pub unfoldings: Vec<u32>,
    /// The states of the supertype with receives that may go on for ever: the context must let it
    /// leave them.
    pub left: Vec<StateId>,
}
