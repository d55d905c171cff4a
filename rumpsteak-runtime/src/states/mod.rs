//! The states of a session: the generic primitives of PPoPP'22 §2.1 from which each session type is
//! built.
//!
//! A state owns the right to perform one action. Performing it consumes the state and returns the
//! next, so that Rust's affine types enforce the order; a state cannot be made, copied or used
//! twice. All states of a session share one [`State`], which borrows the role. A process that ends
//! with another state than the [`End`], or with none, poisons the role.

pub(crate) mod action;
mod branch;
pub(crate) mod choice;
mod end;
mod implement;
mod misused;
mod peer;
mod process;
pub(crate) mod proof;
mod race;
mod receive;
mod select;
mod send;
pub(crate) mod state;

pub use self::branch::{Branch, Branching};
pub use self::choice::{AnyPeer, Choice, Offers, Peer};
pub use self::end::{End, Ended};
pub use self::misused::{NotBranch, NotOver, NotRace, NotReceive, NotSelect, NotSend};
pub use self::peer::Peers;
pub use self::process::Process;
pub use self::proof::Plays;
pub use self::race::{Race, Raced, Until};
pub use self::receive::{Receive, Receiving};
pub use self::select::Select;
pub use self::send::{Follows, Returning, Send, Sending};
pub use self::state::{Session, State};
