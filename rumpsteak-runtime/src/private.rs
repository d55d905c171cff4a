//! The items that the macros use: not part of the public interface, and free to change in any
//! release. Each is defined where it belongs.

pub use crate::role::{
    between::*, fingerprint, fingerprint::Structure, participant::*, stub::*, wiring,
};
pub use crate::seal::{ByMacro, Label, Played, Seals};
pub use crate::states::{Plays, Process, choice::Unheard, choice::enter, proof::Unnamed};
pub use crate::{__plays as plays, __stub as stub};
