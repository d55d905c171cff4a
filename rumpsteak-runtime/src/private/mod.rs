//! What the macros use: not part of the public interface, and free to change in any release.

mod between;
pub(crate) mod fingerprint;
mod outcome;
pub(crate) mod participant;
mod payload;
pub(crate) mod process;
pub(crate) mod proof;
pub mod scope;
mod seal;
mod stub;
pub mod wiring;

pub use self::between::{Between, first};
pub use self::fingerprint::Structure;
pub use self::outcome::root_cause;
pub use self::participant::{Leaves, Moves, Participant, complete, poll_begin};
pub use self::payload::{ChangesHands, Is, carries, carries_session};
pub use self::process::Process;
pub use self::proof::{Plays, Unnamed};
pub use self::seal::{ByMacro, Label, Played, Seals};
pub use self::stub::NoRoute;
pub use crate::join::Processes;
pub use crate::states::choice::{Unheard, enter};
pub use crate::__stub as stub;
