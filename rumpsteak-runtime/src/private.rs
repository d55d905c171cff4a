//! The items that the macros use: not part of the public interface, and free to change in any
//! release. Each is defined where it belongs.

pub use crate::__stub as stub;
pub use crate::join::Processes;
pub use crate::outcome::root_cause;
pub use crate::payload::{ChangesHands, Is, carries, carries_session};
pub use crate::role::{between::*, fingerprint::Structure, participant::*, stub::*, wiring};
pub use crate::seal::{ByMacro, Label, Played, Seals};
pub use crate::states::{Plays, Process, choice::Unheard, choice::enter, proof::Unnamed};

/// The names that a module of a protocol has without an import. Its own items go before them.
pub mod scope {
    pub use crate::channel::Channel;
}
