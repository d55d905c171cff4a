//! Items that generated code uses. They are not part of the public interface and may change in any
//! release.

pub use crate::__stub as stub;
pub use crate::join::Processes;
pub use crate::payload::{ChangesHands, Is, carries, carries_session};
pub use crate::role::{fingerprint::Structure, on_demand::*, participant::*, wiring};
pub use crate::run::{RunningFamily, Shared, family, other_member, other_set, root_cause, running};
pub use crate::seal::{ByMacro, Label, Played, Seals};
pub use crate::states::{Plays, Process, choice::NeverReceived, proof::Unnamed};
pub use crate::transport::{JoinsRing, to_family};
pub use crate::watch::{Watch, connection, print};

/// The names that a module has without an import. Its own items take precedence.
pub mod scope {
    pub use crate::channel::Channel;
    pub use crate::transport::Members;
}
