//! Testing processes: all roles in every interleaving, or one role beside a peer played by hand.
//!
//! That the roles fit together needs no test: the build script proves it. What is left is what
//! processes do outside of their sessions, and whether a test holds for every order in which an
//! executor may run them.

mod explore;
mod mock;

pub use explore::{Explored, Processes, explore, explore_up_to};
pub(crate) use explore::{ends_queues, waits_to_begin};
pub use mock::{Acting, HearsFrom, Mock, SendsTo};
