use std::fmt;

use super::state::{Session, State};
use crate::error::Result;
use crate::private::ByMacro;
use crate::private::fingerprint::{self, Structure};
use crate::role::Role;

/// The end of a session.
///
/// A process proves that it went through its whole session by returning this beside its value:
/// `Ok((value, end))`. Dropping it instead poisons the role, like dropping any other state.
#[must_use = "return the end of the session beside your value: `Ok((value, end))`"]
pub struct End<'s, R: Role> {
    state: State<'s, R>,
}

impl<R: Role> End<'_, R> {
    /// Ends the session of the role with this identity.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ForeignEnd`](crate::ErrorKind::ForeignEnd) if this is the end of another
    /// session; both roles are then poisoned.
    pub(crate) fn complete(self, identity: usize) -> Result<()> {
        self.state.end(identity)
    }

    /// As [`complete`](Self::complete), and closes the routes: there is no other session.
    ///
    /// # Errors
    ///
    /// As `complete`.
    pub(crate) fn close(self, identity: usize) -> Result<()> {
        self.state.end_for_good(identity)
    }
}

impl<'s, R: Role> Session for End<'s, R> {
    type State = State<'s, R>;

    const BY_MACRO: ByMacro = ByMacro(());

    #[inline]
    fn from_state(state: State<'s, R>) -> Self {
        Self { state }
    }

    fn into_state(self, _: ByMacro) -> State<'s, R> {
        self.state
    }
}

impl<R: Role> Structure for End<'_, R> {
    const FINGERPRINT: u64 = fingerprint::mix(fingerprint::END, 0);
}

impl<R: Role> fmt::Debug for End<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End").field("role", &self.state).finish()
    }
}
