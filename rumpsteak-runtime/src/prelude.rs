//! What almost every program needs: `use rumpsteak_runtime::prelude::*;`.
//!
//! It has no names of the standard library's prelude: neither `Result` nor `Send`, which
//! `#[session]` finds without an import.

pub use crate::{Channel, Message, Role, Roles, join, protocol, run, session, try_run};
