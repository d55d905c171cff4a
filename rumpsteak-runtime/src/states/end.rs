use std::fmt;

use super::state::{Session, State};
use crate::error::{ErrorKind, Result};
use crate::lending::Lender;
use crate::role::Role;
use crate::role::fingerprint::{self, Structure};
use crate::seal::ByMacro;

/// The end of a session.
///
/// A process returns this beside its value, `end.end(value)`, to prove that it went through its
/// whole session. A process that does not return it poisons the role.
#[must_use = "return the end of the session beside your value: `end.end(value)`"]
pub struct End<'s, R: Role> {
    state: State<'s, R>,
}

/// The result of a process of the role `R`: its value and the end of its session.
///
/// With this return type, rustc marks each `return` that returns anything else.
///
/// ```
/// # use rumpsteak_doctests::*;
/// use rumpsteak::Ended;
///
/// async fn answer(s: Server<'_>) -> Ended<'_, S> {
///     let (Ping(question), s) = s.receive().await?;
///     s.send(Pong(question + 1)).await?.end(())
/// }
/// ```
pub type Ended<'s, R, T = ()> = Result<(T, End<'s, R>)>;

impl<'s, R: Role> End<'s, R> {
    /// Ends a process with its value: `Ok((value, self))`. Never fails.
    #[inline]
    pub fn end<T>(self, value: T) -> Ended<'s, R, T> {
        Ok((value, self))
    }
}

impl<R: Role> End<'_, R> {
    /// Checks that this is the end of this role's session. Fails with [`ErrorKind::ForeignEnd`] if
    /// it is not.
    #[inline]
    pub(crate) fn check<Q>(self, role: &Lender<'_, Q>) -> Result<()> {
        if role.is_claimed_by(self.state.claim) {
            Ok(())
        } else {
            Err(ErrorKind::ForeignEnd { role: R::NAME }.into())
        }
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
