//! Machines with the names and places that their text gave them.

use std::ops::Range;

use crate::machine::Fsm;

/// A machine with what its text said beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The machine; its states are in order of first mention.
    pub fsm: Fsm,
    /// What the states are called, by [`StateId::index`](crate::StateId::index); a form without
    /// names for states gives their numbers.
    pub states: Vec<String>,
    /// Where each transition was written, by [`TransitionId::index`](crate::TransitionId::index):
    /// bytes of the text.
    pub actions: Vec<Range<usize>>,
}
