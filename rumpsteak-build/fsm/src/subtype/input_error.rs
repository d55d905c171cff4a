//! Machines for which subtyping is not defined.

use std::{error::Error, fmt};

use crate::machine::Defect;

/// One of the two machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The subtype.
    Sub,
    /// The supertype.
    Sup,
}

/// A machine that stands for no local type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The machine.
    pub side: Side,
    /// Why it is no local type.
    pub defect: Defect,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Sub => "subtype",
            Side::Sup => "supertype",
        };
        write!(f, "the {side} is no local type: {}", self.defect)
    }
}

impl Error for InputError {}
