//! What all states have in common: the session in progress.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::error::{Error, ErrorKind};
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

    /// Enters the state.
    #[doc(hidden)]
    fn from_state(state: Self::State) -> Self;
}

/// A session in progress: the exclusive right to use the routes of a role.
///
/// Invariant: between `try_run` and the end there is exactly one per session, because it can be
/// neither cloned nor constructed outside this crate. It is never stored in the role, so a session
/// that leaks it (`mem::forget`) leaves the role marked as in a session.
pub struct State<'s, R: Role> {
    pub(super) role: &'s mut R,
}

impl<'s, R: Role> State<'s, R> {
    /// Begins a session.
    pub(crate) fn new(role: &'s mut R) -> Self {
        role.begin();
        Self { role }
    }

    /// Ends the session if it is the one of the role at `address`.
    pub(super) fn end(self, address: usize) -> Result<(), Error> {
        if address_of(&*self.role) == address {
            // Not dropped: that would be the end of a session in the middle.
            ManuallyDrop::new(self).role.finish();
            Ok(())
        } else {
            // Dropping `self` poisons the other role. The session's own role is poisoned by its own
            // state, wherever that is.
            Err(ErrorKind::ForeignEnd { role: R::NAME }.into())
        }
    }
}

/// The types that a state mentions. A function returns them, because the state has none of their
/// values: only its role decides whether it can move between threads.
pub(super) type Names<T> = PhantomData<fn() -> T>;

/// The address of a role identifies it among all roles that sessions borrow at the same time.
///
/// Two roles can only share an address if their type has no size. A role of no size has no routes,
/// hence no session but the empty one.
pub(crate) fn address_of<R>(role: &R) -> usize {
    std::ptr::from_ref(role).addr()
}

impl<R: Role> Drop for State<'_, R> {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        self.role.abort();
    }
}

impl<R: Role> std::fmt::Debug for State<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(R::NAME, f)
    }
}
