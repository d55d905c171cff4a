//! What all states have in common: the session in progress.

use std::marker::PhantomData;
use std::mem;

use crate::error::{Error, ErrorKind, Result};
use crate::lending::Claim;
use crate::role::Role;
use crate::seal::ByMacro;

/// A state of a session, such as [`Send`](super::Send) or [`End`](super::End), or a session of a
/// module that is made of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state of a session",
    label = "not a state of a session",
    note = "a session is built from `Send`, `Receive`, `Select`, `Branch` and `End`, in a module with \
            `#[protocol(…)]` or `#[closed_system]`"
)]
pub trait Session {
    /// The session in progress, as every state of it owns it: `State<'s, R>` in a session of the
    /// role `R`.
    ///
    /// The lifetime is here and no parameter of the trait, because the `Send` check of a future
    /// that holds a state forgets which lifetimes are equal: it would ask for a state of one
    /// session that is a state of another.
    type State;

    #[doc(hidden)]
    const BY_MACRO: ByMacro;

    /// Enters the state.
    #[doc(hidden)]
    fn from_state(state: Self::State) -> Self;

    /// Leaves the state. Only [`Detached`](crate::Detached) does.
    #[doc(hidden)]
    fn into_state(self, by: ByMacro) -> Self::State;
}

/// A session in progress: the exclusive right to use the routes of a role, which is
/// lent to it while its process is polled (`lending.rs`).
///
/// Invariant: between `try_run` and the end there is exactly one per session, because it can be
/// neither cloned nor constructed outside this crate.
pub struct State<'s, R: Role> {
    pub(super) claim: Claim<'s, R>,
}

impl<'s, R: Role> State<'s, R> {
    /// The role. Only as long as an action is polled. Fails with [`ErrorKind::Outside`] if nobody
    /// who runs the process of the session is polling it. Panics if the state was
    /// [taken](Self::take).
    #[inline(always)]
    pub(crate) fn role(&mut self) -> Result<&mut R> {
        self.claim.role(outside)
    }

    /// Takes the state out of its place, as of the future of an action, which so has completed.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Self {
        mem::replace(self, Self { claim: Claim::none() })
    }

    pub(super) fn is_taken(&self) -> bool {
        self.claim.is_none()
    }
}

/// The first state of a session of the role that is claimed.
///
/// No function of the type: rustc would propose it to whoever makes a state by hand.
#[inline]
pub(crate) fn state_of<'s, R: Role>(claim: Claim<'s, R>) -> State<'s, R> {
    State { claim }
}

/// The error of a state whose role is not lent. If that was taken, it panics.
#[cold]
#[inline(never)]
fn outside<R: Role>(claim: &Claim<'_, R>) -> Error {
    if claim.is_none() {
        polled_again()
    }
    ErrorKind::Outside { role: R::NAME }.into()
}

/// A future of an action, or of a session, was polled after it had given its result.
#[cold]
#[inline(never)]
pub(crate) fn polled_again() -> ! {
    panic!("the future of an action was polled after it had completed")
}

/// The types that a state mentions. A function returns them, because the state has none of their
/// values: only its role decides whether it can move between threads.
pub(super) type Names<T> = PhantomData<fn() -> T>;

impl<R: Role> std::fmt::Debug for State<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(R::NAME, f)
    }
}
