//! The outcome of a session of all roles of a set.

use crate::error::{Error, ErrorKind};

/// Returns the first error that is not the consequence of another one. An
/// [`ErrorKind::Closed`] is a consequence, if there is any other error.
#[cold]
pub fn root_cause<const N: usize>(errors: [Option<Error>; N]) -> Error {
    let is_cause = |error: &Error| !matches!(error.kind(), ErrorKind::Closed { .. });
    let mut all: Vec<_> = errors.into_iter().flatten().collect();
    let cause = all.iter().position(is_cause).unwrap_or(0);
    assert!(!all.is_empty(), "one of the processes has failed");
    all.swap_remove(cause)
}
