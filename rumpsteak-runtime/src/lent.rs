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
use std::num::NonZero;
use std::ptr::{self, NonNull};

/// A role that is lent.
#[derive(Clone, Copy)]
struct Lent {
    /// Null if none is.
    role: *mut (),
    /// The one that was lent before it, and still is.
    before: *const Lent,
}

thread_local! {
    /// The role that was lent last.
    static LAST: Cell<Lent> = const { Cell::new(Lent { role: ptr::null_mut(), before: ptr::null() }) };
}

/// Lends a role while `poll` runs.
#[inline]
pub(crate) fn lend<R, T>(role: &mut R, poll: impl FnOnce() -> T) -> T {
    let back = GiveBack { before: LAST.get() };
    LAST.set(Lent { role: ptr::from_mut(role).cast(), before: &raw const back.before });
    poll()
}

/// Makes the role that was lent before the last one the last one again, also when a panic unwinds.
struct GiveBack {
    before: Lent,
}

impl Drop for GiveBack {
    #[inline]
    fn drop(&mut self) {
        LAST.set(self.before);
    }
}

/// What tells a role from others that are lent: no two that have a size are in one place.
#[inline]
pub(crate) fn address<R>(role: &R) -> NonZero<usize> {
    NonNull::from(role).addr()
}

/// The role with this address, if it is lent.
#[inline(always)]
pub(crate) fn find(address: NonZero<usize>) -> Option<*mut ()> {
    let last = LAST.get();
    if last.role.addr() == address.get() { Some(last.role) } else { search(last, address) }
}

/// As `find`, among those that were lent before the last one.
#[cold]
#[inline(never)]
fn search(last: Lent, address: NonZero<usize>) -> Option<*mut ()> {
    let mut lent = last;
    while lent.role.addr() != address.get() {
        // SAFETY: it is null, or in a call of `lend` on this thread that has not returned: those
        // return in turn, and each takes what it lent off the list.
        lent = unsafe { *lent.before.as_ref()? };
    }
    Some(lent.role)
}
