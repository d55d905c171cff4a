//! The session in progress, which all states share.

use std::marker::PhantomData;
use std::mem;

use crate::error::{Error, ErrorKind, Result};
use crate::lending::Claim;
use crate::role::Role;
use crate::seal::ByMacro;
use crate::watch::{self, Doing, Step, Way};

/// A state of a session: [`Send`](super::Send), [`End`](super::End), …, or a session type of a
/// module that is made of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state of a session",
    label = "not a state of a session",
    note = "a session is built from `Send`, `Receive`, `Select`, `Branch` and `End`, in a module with \
            `#[protocol(…)]` or `#[closed_system]`"
)]
pub trait Session {
    /// The session in progress, which every state owns: `State<'s, R>` in a session of `R`.
    ///
    /// The lifetime is here and not a parameter of the trait: rustc forgets which lifetimes are
    /// equal when it checks that a future with a state is `Send`, and would not find the
    /// implementation.
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

/// A session in progress: the exclusive right to use the routes of a role. The role is lent to it
/// while its process is polled (`lending.rs`), unless it is [`Held`](crate::Held) by the state.
///
/// Invariant: there is exactly one per session between its beginning and its end, because it can be
/// neither cloned nor constructed outside this crate.
pub struct State<'s, R: Role> {
    pub(crate) claim: Claim<'s, R>,
    pub(crate) owned: R::Owned,
}

impl<'s, R: Role> State<'s, R> {
    /// Returns the role for one poll of an action. Fails with [`ErrorKind::Outside`] unless the
    /// process of the session is being polled on this thread. Panics if the state was
    /// [taken](Self::take).
    #[inline(always)]
    pub(crate) fn role(&mut self) -> Result<&mut R> {
        match R::owned(&mut self.owned) {
            Some(role) => Ok(role),
            None => self.claim.role(outside),
        }
    }

    /// Reports an action if the role is [watched](crate::watch). `look` returns true if the action
    /// would wait, and the names of its peers.
    #[inline(always)]
    pub(super) fn acts<N: Into<String>>(
        &mut self,
        way: Way,
        labels: &'static [&'static str],
        look: impl FnOnce(&mut R) -> (bool, Vec<N>),
    ) -> Result<()> {
        if watch::IS_ON && self.claim.is_watched() {
            let role = self.role()?;
            let (waits, peers) = look(role);
            let peers = peers.into_iter().map(Into::into).collect();
            watch::acts(role, waits, Step { way, peers, labels });
        }
        Ok(())
    }

    /// Takes the state out of a future, which thereby completes.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Self {
        mem::replace(self, Self { claim: Claim::none(), owned: R::NOT_OWNED })
    }

    /// Returns true if a future has given its state away. Not known of an owned role.
    pub(super) fn is_taken(&self) -> bool {
        self.claim.is_none() && size_of::<R::Owned>() == 0
    }

    /// Completes the session if the state owns its role. Otherwise the process does.
    #[inline(always)]
    pub(super) fn complete_owned(&mut self) {
        if let Some(role) = R::owned(&mut self.owned) {
            if self.claim.is_watched() {
                watch::changes(role, Doing::Ended);
            }
            role.complete();
        }
    }
}

/// The error of a state whose role is not lent. Panics if the state was taken.
#[cold]
#[inline(never)]
fn outside<R: Role>(claim: &Claim<'_, R>) -> Error {
    if claim.is_none() {
        polled_again()
    }
    ErrorKind::Outside { role: R::NAME }.into()
}

/// Panics because a future of an action or a session was polled after it had completed.
#[cold]
#[inline(never)]
pub(crate) fn polled_again() -> ! {
    panic!("the future of an action was polled after it had completed")
}

/// The types that a state mentions without having values of them: the return type of a function, so
/// that only the role decides if the state is `Send`.
pub(super) type Names<T> = PhantomData<fn() -> T>;

impl_debug!([R: Role] State<'_, R>, "role": |_| R::NAME);
