//! The roles whose processes this thread is polling.
//!
//! A state of a session does not hold its role. Whoever runs the process does, and lends the role
//! to the actions for as long as it polls the process; the state knows its address:
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
//! So a state needs no destructor. When the process ends, the role is there with the one who runs
//! it, who aborts the session if it has no [`End`](crate::states::End), whatever became of its
//! states. And no state can use the role at the same time, on whichever thread it may be: only
//! there, and only until the poll returns, is the role lent.
//!
//! # Cost
//!
//! One comparison with a variable of the thread for each action, and a few writes for each poll of
//! a process. What it saves is in ARCHITECTURE.md, *Roads not taken*.

#![allow(
    unsafe_code,
    reason = "the roles that are lent are a list on the stack; Miri runs sessions, nested ones, and states elsewhere"
)]

use std::cell::Cell;
use std::marker::PhantomData;
use std::num::NonZero;
use std::ptr::{self, NonNull};

/// A role that can be lent to the states of a session, and to nobody else before that returns.
pub(crate) struct Lender<'s, R> {
    role: &'s mut R,
}

/// The right to a role whenever it is lent: what the states of a session hand on.
///
/// Invariant: there is one for each [`Lender`], with which it is made: it cannot be cloned.
pub(crate) struct Claim<'s, R> {
    /// That of the role, or [`NOWHERE`].
    address: NonZero<usize>,
    role: PhantomData<&'s mut R>,
}

/// In place of an address: no role begins at the last byte of all.
const NOWHERE: NonZero<usize> = NonZero::<usize>::MAX;

/// A role that was lent before another one, and still is, on the stack of who lent the other one.
struct Lent {
    /// Null if there is none.
    role: *mut (),
    before: *const Lent,
}

// Two variables: one of two words would be written by words and read as a whole, which a processor
// cannot do before what was written has left its buffer.
thread_local! {
    /// The role that was lent last; null if there is none.
    static LAST: Cell<*mut ()> = const { Cell::new(ptr::null_mut()) };
    /// The one that was lent before it.
    static BEFORE: Cell<*const Lent> = const { Cell::new(ptr::null()) };
}

impl<'s, R> Lender<'s, R> {
    /// The lender of this role, and the claim to it.
    ///
    /// Two roles without a size could have one address, so such a role does not compile.
    #[inline]
    pub(crate) fn new(role: &'s mut R) -> (Self, Claim<'s, R>) {
        const {
            assert!(
                size_of::<R>() > 0,
                "a role without a size has no session: its routes keep their marks elsewhere, and not in themselves"
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
        // `with`, because `LocalKey::set` is not inlined everywhere.
        let role = LAST.with(|last| last.replace(ptr::from_mut(self.role).cast()));
        let before = Lent { role, before: BEFORE.get() };
        BEFORE.with(|last| last.set(&raw const before));
        poll()
    }

    /// Whether this is the claim to the role.
    #[inline]
    pub(crate) fn is_claimed_by<Q>(&self, claim: &Claim<'_, Q>) -> bool {
        claim.address == address(self.role)
    }
}

impl Drop for Lent {
    /// Takes the role that was lent last off the list, also when a panic unwinds.
    #[inline]
    fn drop(&mut self) {
        LAST.with(|last| last.set(self.role));
        BEFORE.with(|last| last.set(self.before));
    }
}

impl<R> Claim<'_, R> {
    /// A claim to nothing.
    #[inline]
    pub(crate) fn none() -> Self {
        Self { address: NOWHERE, role: PhantomData }
    }

    /// Whether it is a claim to nothing.
    pub(crate) fn is_none(&self) -> bool {
        self.address == NOWHERE
    }

    /// The role, if it is lent, or else an error.
    ///
    /// For a poll of an action, which uses the reference up: whoever lends the role waits for it.
    /// (A closure that gets the role would say so by its type, but not all of it is inlined: a
    /// stream takes 17 % more instructions.)
    #[inline(always)]
    pub(crate) fn role<E>(&mut self, error: impl FnOnce(&Self) -> E) -> Result<&mut R, E> {
        let last = LAST.get();
        let role = if last.addr() == self.address.get() {
            last
        } else {
            search(self.address).ok_or_else(|| error(self))?
        };
        // SAFETY: at this address there is the role of this claim: as long as that exists, the role
        // is borrowed for it and its lender, and no other one could be lent there, since roles with
        // a size do not overlap. The lender does not touch it before its call of `lend` returns,
        // after the poll that uses the reference has. There is no other claim to it, and this one
        // is borrowed as long as the reference.
        Ok(unsafe { &mut *role.cast() })
    }
}

/// What tells a role from others that are lent: no two that have a size are in one place.
#[inline]
fn address<R>(role: &R) -> NonZero<usize> {
    NonNull::from(role).addr()
}

/// The role with this address, if it was lent before the last one.
#[cold]
#[inline(never)]
fn search(address: NonZero<usize>) -> Option<*mut ()> {
    let mut before = BEFORE.get();
    loop {
        // SAFETY: it is null, or in a call of `lend` on this thread that has not returned: those
        // return in turn, and each takes what it lent off the list.
        let lent = unsafe { before.as_ref()? };
        if lent.role.addr() == address.get() {
            return Some(lent.role);
        }
        before = lent.before;
    }
}
