//! What the macros use: not part of the public interface, and free to change in any release.

pub mod fingerprint;
pub(crate) mod proof;
pub mod wiring;

pub use self::fingerprint::Structure;
pub use self::proof::{Machine, Plays, Transition, Unnamed};
