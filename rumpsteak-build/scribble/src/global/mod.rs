//! The protocol as a whole: checks before it is unfolded, and its automaton.

pub(crate) mod automaton;
mod blocks;
pub(crate) mod connections;
pub(crate) mod determinise;
pub(crate) mod flow;
mod unfold;
