//! Testing processes: all roles in every interleaving, or one role beside a peer played by hand.
//!
//! The build script proves that the roles fit together. Tests are for the rest of the processes,
//! and check that it works in every order in which an executor may run them.

mod explore;
mod mock;

pub use explore::{Explored, Processes, explore, explore_up_to};
pub(crate) use explore::{ends_queues, waits_for, waits_to_begin};
pub use mock::{Acting, HearsFrom, Mock, SendsTo};
