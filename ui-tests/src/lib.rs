//! Verified sessions for the tests of this package.
//!
//! Sessions need a build script, which `rumpsteak-runtime` must not have, so they have a package of
//! their own. `tests/ui` compiles the mistakes in `ui/`, one per file, and compares rustc's
//! messages. The other tests run sessions.

use rumpsteak::error::Action;
use rumpsteak::{Error, ErrorKind, Result};

pub mod cancel;
pub mod either;
pub mod fan_in;
pub mod handover;
pub mod numbers;
pub mod ping;
pub mod pool;
pub mod ring;

/// The role that failed because its peer had closed the route, the peer, and the action.
///
/// # Panics
///
/// If the session ended otherwise.
#[track_caller]
pub fn closed<T: std::fmt::Debug>(ended: Result<T>) -> (&'static str, &'static str, Action) {
    match ended.map_err(Error::into_kind) {
        Err(ErrorKind::Closed { role, peer, action }) => (role, peer, action),
        other => panic!("expected a closed route, got {other:?}"),
    }
}
