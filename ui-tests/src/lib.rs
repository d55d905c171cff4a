//! Verified sessions for the tests of this package.
//!
//! The package exists because sessions need a build script, which `rumpsteak-runtime` itself must
//! not have. Its tests are of two sorts: `tests/ui` compiles the mistakes in `ui/`, one in each
//! file, and compares what rustc says; the others run sessions and watch what happens.

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

/// Who found that which peer has closed the route, and before which action.
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
