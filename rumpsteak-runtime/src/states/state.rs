//! What all states have in common: the session in progress.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::error::{Error, ErrorKind};
use crate::private::{ByMacro, participant};
use crate::role::Role;

/// A state of a session, such as [`Send`](super::Send) or [`End`](super::End), or a type that
/// `#[session]` made of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state of a session",
    label = "not a state of a session",
    note = "sessions are built from `Send`, `Receive`, `Select`, `Branch` and `End`; a type alias, struct or enum \
            of them needs the attribute `#[session]`"
)]
pub trait Session {
    /// The session in progress, as every state of it owns it: `State<'s, R>` in a session of the
    /// role `R`.
    ///
    /// The lifetime is here and no parameter of the trait, because the `Send` check of a future
    /// that holds a state forgets which lifetimes are equal: it would ask for a state of one
    /// session that is a state of another.
    type State;

    /// Does not compile unless a struct is what the build script verified.
    #[doc(hidden)]
    const BY_MACRO: ByMacro;

    /// Enters the state.
    #[doc(hidden)]
    fn from_state(state: Self::State) -> Self;

    /// Leaves the state. Only [`Detached`](crate::Detached) does.
    #[doc(hidden)]
    fn into_state(self, by: ByMacro) -> Self::State;
}

/// A session in progress: the exclusive right to use the routes of a role.
///
/// Invariant: between `try_run` and the end there is exactly one per session, because it can be
/// neither cloned nor constructed outside this crate. It is never stored in the role, so a session
/// that leaks it (`mem::forget`) leaves the routes marked as in a session.
pub struct State<'s, R: Role> {
    pub(crate) role: &'s mut R,
}

impl<'s, R: Role> State<'s, R> {
    /// Begins a session.
    pub(crate) fn new(role: &'s mut R) -> Self {
        participant::begin(role);
        Self { role }
    }

    /// Ends the session if it is that of the role with this [`identity`](participant::identity).
    pub(super) fn end(self, identity: usize) -> Result<(), Error> {
        // On an error `self` is dropped, which poisons the other role. The session's own role is
        // poisoned by its own state, wherever that is.
        self.is_of(identity)?;
        // Not dropped: that would be the end of a session in the middle.
        participant::complete(ManuallyDrop::new(self).role);
        Ok(())
    }

    /// As [`end`](Self::end), and closes the routes: the role has left in order.
    pub(super) fn end_for_good(self, identity: usize) -> Result<(), Error> {
        self.is_of(identity)?;
        let mut ended = ManuallyDrop::new(self);
        participant::leave(ended.role);
        Ok(())
    }

    /// Whether this is the session of the role with this [`identity`](participant::identity).
    fn is_of(&self, identity: usize) -> Result<(), Error> {
        if participant::identity(self.role) == identity {
            Ok(())
        } else {
            Err(ErrorKind::ForeignEnd { role: R::NAME }.into())
        }
    }
}

/// The types that a state mentions. A function returns them, because the state has none of their
/// values: only its role decides whether it can move between threads.
pub(super) type Names<T> = PhantomData<fn() -> T>;

impl<R: Role> Drop for State<'_, R> {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        participant::abort(self.role);
    }
}

impl<R: Role> std::fmt::Debug for State<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(R::NAME, f)
    }
}
