//! Names that almost every program needs: `use rumpsteak::prelude::*;`.
//!
//! No name shadows the prelude of the standard library.

pub use crate::{
    Channel, Ended, Error, Message, Role, closed_system, join, protocol, run, try_run,
};
