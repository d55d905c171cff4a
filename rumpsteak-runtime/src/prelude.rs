//! Names that almost every program needs: `use rumpsteak::prelude::*;`.
//!
//! None of them is in the prelude of the standard library: neither `Result` nor `Send`, which a
//! session needs no import for.

pub use crate::{
    Channel, Ended, Error, Message, Role, closed_system, join, protocol, run, try_run,
};
