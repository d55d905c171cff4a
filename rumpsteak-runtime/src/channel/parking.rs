//! Going to sleep and being woken, for two sides of which each is only in one place at a time.
//!
//! One side *parks*: it leaves its waker, and looks once more at what it waits for. The other side
//! makes its change and then *unparks*:
//!
//! ```text
//! waiting side                      other side
//!   the queue is empty                push a message
//!   state |= PARKED                   state ← 0, and what was it?
//!   look again: still empty?          it had PARKED: wake
//!   pending
//! ```
//!
//! # Why no wake-up is lost
//!
//! Both sides read and write `state` in one step, so one of the two comes first. If parking does,
//! the other side sees it and wakes. If unparking does, parking reads what it (or a later step)
//! wrote, and therefore sees all that was done before it: the second look finds the message. The
//! waker is stored before `state` says so, hence before the second look.
//!
//! # The waker
//!
//! A side mostly parks with one waker for ever, that of its task. So both sides keep a copy of their
//! own: to park again costs one step on `state`, and to unpark one step and the wake-up, without a
//! lock, a clone or an allocation. Only a waker that is new goes through the lock, and `FRESH` says
//! that it is there. Whatever waker is in there is the newest one, so the other side may take it
//! even before it has seen the `FRESH` that belongs to it; that one then finds nothing, and the copy
//! is the newest already.
//!
//! A side that parked and then found what it looked for stays parked: at worst it is woken once in
//! vain, which the contract of wakers allows.

use std::sync::PoisonError;
use std::task::Waker;

use super::sync::Mutex;
use super::sync::atomic::{AtomicU8, Ordering};

/// Somebody waits.
const PARKED: u8 = 1;
/// Somebody waits, and has left a new waker.
const FRESH: u8 = 2;

/// Where the two sides meet.
#[derive(Debug)]
pub(super) struct Parking {
    state: AtomicU8,
    fresh: Mutex<Option<Waker>>,
}

/// The waiting side's copy of the waker that it left last.
#[derive(Debug, Default)]
pub(super) struct Parker(Option<Waker>);

/// The other side's copy of the waker that it took last.
#[derive(Debug, Default)]
pub(super) struct Unparker(Option<Waker>);

impl Parking {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicU8::new(0),
            fresh: Mutex::new(None),
        }
    }

    /// Leaves the waker. What is waited for must be looked at again after this.
    #[inline]
    pub(super) fn park(&self, parker: &mut Parker, waker: &Waker) {
        let flags = match &parker.0 {
            Some(known) if known.will_wake(waker) => PARKED,
            _ => {
                self.leave(parker, waker);
                PARKED | FRESH
            }
        };
        self.state.fetch_or(flags, Ordering::AcqRel);
    }

    #[cold]
    fn leave(&self, parker: &mut Parker, waker: &Waker) {
        let replaced = self.replace(Some(waker.clone()));
        // Dropping a waker may run code of an executor: not under the lock.
        drop(replaced);
        parker.0 = Some(waker.clone());
    }

    /// Wakes the waiting side if it has parked. Must follow the change that it waits for.
    #[inline]
    pub(super) fn unpark(&self, unparker: &mut Unparker) {
        let flags = self.state.swap(0, Ordering::AcqRel);
        if flags != 0 {
            self.wake(unparker, flags);
        }
    }

    fn wake(&self, unparker: &mut Unparker, flags: u8) {
        if flags & FRESH != 0
            && let Some(fresh) = self.replace(None)
        {
            unparker.0 = Some(fresh);
        }
        if let Some(waker) = &unparker.0 {
            waker.wake_by_ref();
        }
    }

    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *fresh, waker)
    }
}
