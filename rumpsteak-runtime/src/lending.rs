//! Lending of roles to the actions of the processes that this thread is polling.
//!
//! A state of a session does not hold its role. The future that runs the process does, and lends
//! the role to the actions while it polls the process. The state knows the role's address:
//!
//! ```text
//!                                               lent
//! Running::poll    lends the role K             K
//!   process        receives from S, by K        K
//!     Running      lends the role A             A, K     a process within the process
//!       process    receives from B, by A        A, K
//!       process    sends to S, by K             A, K     a state of the outer session
//! ```
//!
//! So a state needs no destructor: whatever happens to the states, the future still has the role
//! when the process ends, and aborts the session unless it returned its
//! [`End`](crate::states::End). And a state cannot use the role at the same time on another thread:
//! the role is lent on this thread only, until the poll returns.
//!
//! Each action compares one thread-local variable, and each poll of a process makes a few writes.

#![allow(
    unsafe_code,
    reason = "a list on the stack has the lent roles; Miri runs sessions, nested ones, and states elsewhere"
)]

use std::cell::Cell;
use std::marker::PhantomData;
use std::num::NonZero;
use std::ptr::{self, NonNull};

use crate::watch;

/// A role that can be lent to the states of a session while a poll runs.
pub(crate) struct Lender<'s, R> {
    role: &'s mut R,
}

/// The right to use a role while it is lent, which the states of a session hand on.
///
/// Invariant: there is one per [`Lender`], made together with it. It cannot be cloned.
pub(crate) struct Claim<'s, R> {
    /// The address of the role, with [`WATCHED`] if it is watched, or [`NOWHERE`].
    address: NonZero<usize>,
    role: PhantomData<&'s mut R>,
}

/// The address of a claim to nothing. No role begins at the last byte of memory.
const NOWHERE: NonZero<usize> = NonZero::<usize>::MAX;

/// The mark of [watched](watch) roles. The address of a role that is aligned does not have it, and
/// no other one is marked.
const WATCHED: usize = 1;

/// The role that was lent before another one, in a list on the stack of the calls of `lend`.
struct Lent {
    /// Null for the end of the list.
    role: *mut (),
    before: *const Lent,
}

// Two variables: a variable of two words would be written in parts and read as a whole, which
// stalls until the processor's store buffer is empty.
thread_local! {
    /// The role that was lent last; null if none is.
    static LAST: Cell<*mut ()> = const { Cell::new(ptr::null_mut()) };
    /// The roles that were lent before it.
    static BEFORE: Cell<*const Lent> = const { Cell::new(ptr::null()) };
}

impl<'s, R> Lender<'s, R> {
    /// The lender of a role and the claim to it. A role of size zero does not compile, because two
    /// of them could have one address.
    #[inline]
    pub(crate) fn new(role: &'s mut R) -> (Self, Claim<'s, R>) {
        const {
            assert!(
                size_of::<R>() > 0,
                "a role of size zero cannot run a session: its routes must contain their marks"
            );
        }
        let claim = Claim { address: address(role), role: PhantomData };
        (Self { role }, claim)
    }

    /// The role, while it is not lent.
    #[inline]
    pub(crate) fn role(&mut self) -> &mut R {
        self.role
    }

    /// Lends the role while `poll` runs.
    #[inline]
    pub(crate) fn lend<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        // `with`, because `LocalKey::set` is not always inlined.
        let role = LAST.with(|last| last.replace(ptr::from_mut(self.role).cast()));
        let before = Lent { role, before: BEFORE.get() };
        BEFORE.with(|last| last.set(&raw const before));
        poll()
    }

    /// Returns true if this is the claim to the role.
    #[inline]
    pub(crate) fn is_claimed_by<Q>(&self, claim: &Claim<'_, Q>) -> bool {
        claim.unmarked() == address(self.role)
    }
}

impl Drop for Lent {
    /// Takes the last lent role off the list, also when a panic unwinds.
    #[inline]
    fn drop(&mut self) {
        LAST.with(|last| last.set(self.role));
        BEFORE.with(|last| last.set(self.before));
    }
}

impl<R> Claim<'_, R> {
    #[inline]
    pub(crate) fn none() -> Self {
        Self { address: NOWHERE, role: PhantomData }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.address == NOWHERE
    }

    /// Marks that the role is watched, if it is aligned.
    #[cold]
    pub(crate) fn watch(&mut self) {
        if align_of::<R>() > WATCHED {
            self.address = match self.is_none() {
                true => NonZero::<usize>::MIN,
                false => self.address | WATCHED,
            };
        }
    }

    /// The address without the mark.
    #[inline]
    fn unmarked(&self) -> NonZero<usize> {
        let is_marked = watch::IS_ON && self.is_watched();
        let address = if is_marked { self.address.get() & !WATCHED } else { 0 };
        NonZero::new(address).unwrap_or(self.address)
    }

    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        align_of::<R>() > WATCHED && self.address.get() & WATCHED != 0 && !self.is_none()
    }

    /// Returns the role if it is lent, or else an error.
    ///
    /// The caller drops the reference before its poll returns. (A closure that gets the role would
    /// enforce this, but is not fully inlined: a stream takes 17 % more instructions.)
    #[inline(always)]
    pub(crate) fn role<E>(&mut self, error: impl FnOnce(&Self) -> E) -> Result<&mut R, E> {
        let last = LAST.get();
        let role = if last.addr() == self.address.get() {
            last
        } else {
            search(self.unmarked()).ok_or_else(|| error(self))?
        };
        // SAFETY: this address is the address of the claim's role: while the claim exists, the role
        // is borrowed for it and its lender, and no other role can be lent at this address, because
        // roles have a size and do not overlap. The lender does not touch the role before its call
        // of `lend` returns, which is after the poll that uses the reference. This is the only
        // claim to the role, and it is borrowed as long as the reference.
        Ok(unsafe { &mut *role.cast() })
    }
}

/// The address of a role, which is unique among the existing roles, since they have a size.
#[inline]
fn address<R>(role: &R) -> NonZero<usize> {
    NonNull::from(role).addr()
}

/// Finds the role with this address among those that are lent. It was not lent last, or is watched.
#[cold]
#[inline(never)]
fn search(address: NonZero<usize>) -> Option<*mut ()> {
    let (last, mut before) = (LAST.get(), BEFORE.get());
    if last.addr() == address.get() {
        return Some(last);
    }
    loop {
        // SAFETY: the pointer is null, or points into a call of `lend` on this thread that has not
        // returned: these calls return in turn, and each takes its entry off the list.
        let lent = unsafe { before.as_ref()? };
        if lent.role.addr() == address.get() {
            return Some(lent.role);
        }
        before = lent.before;
    }
}
