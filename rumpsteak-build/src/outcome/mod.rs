//! From faults to the entries of the verdict file.
//!
//! * An item with a fault is *failed*: its macro raises the error.
//! * [`propagate`]: a `type` with a fault fails every item that contains it on the way from a root
//!   that is refused for it, since a `type` leaves no trace in what rustc sees. If the `type` is
//!   that root itself, its own error is enough, and other roots that contain it have a judgement of
//!   their own.
//! * A `struct` or `enum` with a fault takes another identity. Items that contain it are *failed
//!   elsewhere*: their proofs name that other identity, and hold only if the failed item's macro
//!   has run and raised its error.
//! * A role whose link to a protocol is wrong takes [another
//!   name](rumpsteak_contract::verdict::refused) in the same way, and sessions that name it are
//!   failed elsewhere.
//! * [`agree`]: an item that means different things to different roots fails, too.
//!
//! So each mistake is one error at its token, with as few others as soundness allows.

pub(crate) mod agree;
pub(crate) mod entries;
pub(crate) mod findings;
pub(crate) mod inclusion;
pub(crate) mod once;
pub(crate) mod propagate;
pub(crate) mod unimported;
pub(crate) mod verdict_file;
pub(crate) mod warnings;
