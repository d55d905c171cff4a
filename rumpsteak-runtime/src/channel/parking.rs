//! Parking and waking, between one side that waits and one side that wakes it.
//!
//! The waiting side *parks*: it stores its waker and sets a flag in an atomic word while it has
//! nothing to do. The other side makes its change, and learns from the word if it must wake.
//!
//! A receiver of an empty queue parks in the word in which the ring counts its messages (see
//! [`ring`](super::ring)): one step checks that the ring is empty and sets the flag. A sender at a
//! full queue parks in a word of its own, a [`Parking`], so it checks again afterwards:
//!
//! ```text
//! waiting side                      other side
//!   the queue is full                 take a message
//!   state |= PARKED                   old = swap(state, 0)
//!   check again: still full?          old has PARKED: wake
//!   pending
//! ```
//!
//! # Why no wake-up is lost
//!
//! Both sides access the word by a read-modify-write, so one of the two comes first. If parking
//! comes first, the other side sees the flag and wakes. If unparking comes first, parking reads
//! its value (or a later one) and therefore sees the change before it: the second check finds room.
//! (In the word of the ring, the count differs, so the receiver does not park.) The waker is stored
//! before the flag is set.
//!
//! # The waker
//!
//! A side usually parks with the same waker, its task's, so both sides keep a copy. Then parking
//! costs one step on the word, and unparking one step and the wake-up. Only a new waker goes
//! through a lock, which `FRESH` announces. The slot always has the newest waker, so the other side
//! may take it before it has seen the `FRESH` that announced it. When it sees that, it finds the
//! slot empty and keeps its copy, which is the newest.
//!
//! A side that parked and then finds work stays parked: at worst it is woken once in vain, which
//! the contract of wakers allows.

use std::sync::PoisonError;
use std::task::Waker;

use super::ring::{Empty, FRESH, PARKED};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{self, Mutex};

/// The slot where the waiting side leaves a new waker.
pub(super) struct WakerSlot {
    fresh: Mutex<Option<Waker>>,
}

/// The waiting side's copy of its last waker.
#[derive(Debug, Default)]
pub(super) struct Parker {
    left: Option<Waker>,
    /// True if a word has announced it with [`FRESH`].
    said: bool,
}

/// The other side's copy of the last waker.
#[derive(Debug, Default)]
pub(super) struct Unparker(Option<Waker>);

impl Parker {
    /// Returns true if the other side has this very waker, or knows where to find it: then
    /// [`PARKED`] is enough.
    #[inline]
    pub(super) fn is_known(&self, waker: &Waker) -> bool {
        self.said && matches!(&self.left, Some(left) if left.will_wake(waker))
    }
}

impl WakerSlot {
    pub(super) fn new() -> Self {
        Self { fresh: sync::empty() }
    }

    /// Parks with the waker. `say` writes the flags into the word and returns true if it did.
    pub(super) fn park(
        &self,
        parker: &mut Parker,
        waker: &Waker,
        say: impl FnOnce(usize) -> bool,
    ) -> bool {
        if parker.is_known(waker) {
            return say(PARKED);
        }
        self.leave(parker, waker);
        parker.said = say(PARKED | FRESH);
        parker.said
    }

    #[cold]
    #[inline(never)]
    fn leave(&self, parker: &mut Parker, waker: &Waker) {
        let replaced = self.replace(Some(waker.clone()));
        // Dropping a waker may run code of an executor: not under the lock.
        drop(replaced);
        parker.left = Some(waker.clone());
    }

    /// Wakes the side that parked with these flags.
    #[inline]
    pub(super) fn wake(&self, unparker: &mut Unparker, flags: usize) {
        if flags & FRESH != 0 {
            self.take(unparker);
        }
        if let Some(waker) = &unparker.0 {
            waker.wake_by_ref();
        }
    }

    #[cold]
    #[inline(never)]
    fn take(&self, unparker: &mut Unparker) {
        if let Some(fresh) = self.replace(None) {
            unparker.0 = Some(fresh);
        }
    }

    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *fresh, waker)
    }
}

/// A word to park in, for sides that have no other, with its wakers.
pub(super) struct Parking {
    state: AtomicUsize,
    wakers: WakerSlot,
}

impl Parking {
    pub(super) fn new() -> Self {
        Self { state: AtomicUsize::new(0), wakers: WakerSlot::new() }
    }

    /// Leaves the waker. The caller must check its condition again afterwards.
    pub(super) fn park(&self, parker: &mut Parker, waker: &Waker) {
        self.wakers.park(parker, waker, |flags| {
            self.state.fetch_or(flags, Ordering::AcqRel);
            true
        });
    }

    /// Wakes the waiting side if it has parked. Call it after the change that the side waits for.
    #[inline]
    pub(super) fn unpark(&self, unparker: &mut Unparker) {
        let flags = self.state.swap(0, Ordering::AcqRel);
        if flags != 0 {
            self.wakers.wake(unparker, flags);
        }
    }
}

#[derive(Default)]
pub(super) struct SenderState {
    /// True if the sender waits while the queue is full.
    pub(super) waits: bool,
    /// The session that has begun ahead of the receiver, while the ring is held.
    pub(super) session: usize,
    pub(super) receiver: Unparker,
    pub(super) own: Parker,
}

#[derive(Default)]
pub(super) struct ReceiverState {
    pub(super) sender_waits: bool,
    pub(super) sender: Unparker,
    pub(super) own: Parker,
    pub(super) retry: Retry,
}

/// Decides if a receiver in a [`join`](crate::join()) asks for another poll instead of parking.
///
/// In one task, the sender is usually polled before the receiver's next turn. Asking for a turn,
/// which only sets a bit, is then cheaper than parking and being woken, which takes an atomic step
/// on a shared word. If asking was in vain, the receiver parks for a while without asking.
#[derive(Debug, Default)]
pub(super) struct Retry {
    /// The ring's state when the receiver last asked. If it is unchanged, asking was in vain.
    asked: Option<Empty>,
    /// The number of times to park without asking.
    parks: u8,
}

impl Retry {
    /// The number of times that a receiver parks at once after asking in vain.
    const PARKS: u8 = 15;

    /// Returns true if the receiver should ask for another turn: at most once per message.
    #[inline]
    pub(super) fn is_due(&mut self, empty: Empty) -> bool {
        if self.parks > 0 {
            self.parks -= 1;
        } else if self.asked.is_some_and(|asked| asked.is_same(empty)) {
            self.parks = Self::PARKS;
        } else {
            self.asked = Some(empty);
            return true;
        }
        false
    }
}
