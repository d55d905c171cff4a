use std::convert::Infallible;

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
pub type Ended<'s, R, T = ()> = Result<(T, End<'s, <R as crate::Participant>::Itself>)>;

impl<'s, R: Role> End<'s, R> {
    /// Ends a process with its value: `Ok((value, self))`. Never fails.
    #[inline]
    pub fn end<T>(self, value: T) -> Ended<'s, R, T> {
        Ok((value, self))
    }

    /// Checks that this is the end of this role's session. Fails with [`ErrorKind::ForeignEnd`] if
    /// it is not.
    #[inline]
    pub(crate) fn check<Q: Role>(&self, role: &Lender<'_, Q>) -> Result<()> {
        match role.is_claimed_by(&self.state.claim) {
            true => Ok(()),
            false => Err(ErrorKind::ForeignEnd { role: R::NAME }.into()),
        }
    }
}

/// A role whose processes return `V`: the value `T` and the end of a session of the role. For a
/// process in the wrong place, the role is unknown, and rustc reports nothing about the value.
///
/// `W` is [`Over`]. While rustc checks the process, `W` is unknown, and so `V` is what the process
/// returns. If that is not known either, as in a process that loops forever, [`Over`] decides.
#[diagnostic::on_unimplemented(
    message = "the process for `{Self}` returns `{V}` in the place of its value and the end of its session",
    label = "return `Ended<'_, {Self}, {V}>`: write `s.end(value)` at each end of the process, where `s` is its last state",
    note = "a process that loops for ever returns `Ended<'_, {Self}>`, too"
)]
pub trait Ends<'s, V, T, W>: Role {
    #[doc(hidden)]
    fn split(returned: V) -> (T, End<'s, Self>);
}

/// A bound that never holds: a state `N` that is returned in the place of the end. It says which
/// action is left.
#[diagnostic::on_unimplemented(
    message = "the process returns `{N}` in the place of the end of its session",
    label = "write `s.end(value)` at each end of the process, where `s` is its last state"
)]
pub trait Remains<N> {}

/// The mark of a process that returns its end: see [`Ends`].
#[derive(Clone, Copy, Debug)]
pub enum Over {}

#[diagnostic::do_not_recommend]
impl<'s, R: Role, T> Ends<'s, (T, End<'s, R>), T, Over> for R {
    #[inline(always)]
    fn split(returned: (T, End<'s, R>)) -> (T, End<'s, R>) {
        returned
    }
}

/// Never applies, and makes rustc say which action is left.
impl<'s, R: Role, T, N> Ends<'s, (T, N), T, Over> for R
where
    State<'s, R>: Remains<N>,
{
    fn split(_: (T, N)) -> (T, End<'s, R>) {
        unreachable!("the bound does not hold")
    }
}

/// Keeps rustc from the first implementation while `V` is unknown. No process returns this `V`.
#[diagnostic::do_not_recommend]
impl<'s, R: Role> Ends<'s, Over, Infallible, Infallible> for R {
    fn split(returned: Over) -> (Infallible, End<'s, R>) {
        match returned {}
    }
}

impl<'s, R: Role> Session for End<'s, R> {
    type State = State<'s, R>;

    const BY_MACRO: ByMacro = ByMacro(());

    #[inline]
    fn from_state(mut state: State<'s, R>) -> Self {
        state.complete_owned();
        Self { state }
    }

    fn into_state(self, _: ByMacro) -> State<'s, R> {
        self.state
    }
}

impl<R: Role> Structure for End<'_, R> {
    const FINGERPRINT: u64 = fingerprint::mix(fingerprint::END, 0);
}

impl_debug!([R: Role] End<'_, R>, "role": |_| R::NAME);
