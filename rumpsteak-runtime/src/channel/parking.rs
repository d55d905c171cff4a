//! Going to sleep and being woken, for two sides of which each is only in one place at a time.
//!
//! One side *parks*: it leaves its waker and says so in an atomic word, at a moment at which it had
//! nothing to do. The other side makes its change, and finds in the word whether there is anybody
//! to wake.
//!
//! A receiver of an empty queue parks in the word in which the ring counts its messages (see
//! [`ring`](super::ring)), so that it sees in one step that there is none and says that it waits. A
//! sender of a full queue parks in a word of its own, a [`Parking`], and so looks again afterwards:
//!
//! ```text
//! waiting side                      other side
//!   the queue is full                 take a message
//!   state |= PARKED                   state ← 0, and what was it?
//!   look again: still full?           it had PARKED: wake
//!   pending
//! ```
//!
//! # Why no wake-up is lost
//!
//! Both sides read and write the word in one step, so one of the two comes first. If parking does,
//! the other side sees it and wakes. If unparking does, parking reads what it (or a later step)
//! wrote, and therefore sees all that was done before it: the second look finds the room. (In the
//! word of the ring, it finds another count than before, and does not park.) The waker is stored
//! before the word says so.
//!
//! # The waker
//!
//! A side mostly parks with one waker for ever, that of its task. So both sides keep a copy of
//! their own: to park again costs one step on the word, and to unpark one step and the wake-up,
//! without a lock, a clone or an allocation. Only a waker that is new goes through a lock, and
//! `FRESH` says that it is there. Whatever waker is in there is the newest one, so the other side
//! may take it even before it has seen the `FRESH` that belongs to it; that one then finds nothing,
//! and the copy is the newest already.
//!
//! A side that parked and then found what it looked for stays parked: at worst it is woken once in
//! vain, which the contract of wakers allows.

use std::sync::PoisonError;
use std::task::Waker;

use super::ring::{Empty, FRESH, PARKED};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{self, Mutex};

/// Where the waiting side leaves a waker that the other side does not yet have.
#[derive(Debug)]
pub(super) struct WakerSlot {
    fresh: Mutex<Option<Waker>>,
}

/// The waiting side's copy of the waker that it left last.
#[derive(Debug, Default)]
pub(super) struct Parker {
    left: Option<Waker>,
    /// Whether a word has said so with [`FRESH`].
    said: bool,
}

/// The other side's copy of the waker that it took last.
#[derive(Debug, Default)]
pub(super) struct Unparker(Option<Waker>);

impl Parker {
    /// Whether the other side has, or knows where to find, this very waker: then [`PARKED`] says it
    /// all.
    #[inline]
    pub(super) fn is_known(&self, waker: &Waker) -> bool {
        self.said && matches!(&self.left, Some(left) if left.will_wake(waker))
    }
}

impl WakerSlot {
    pub(super) fn new() -> Self {
        Self { fresh: sync::empty() }
    }

    /// Parks with the waker: gives the flags to `say`, which writes them into the word and returns
    /// whether it did.
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

/// Where the two sides meet, if they have no other word.
#[derive(Debug)]
pub(super) struct Parking {
    state: AtomicUsize,
    wakers: WakerSlot,
}

impl Parking {
    pub(super) fn new() -> Self {
        Self { state: AtomicUsize::new(0), wakers: WakerSlot::new() }
    }

    /// Leaves the waker. The caller must look again afterwards at the thing for which it waits.
    pub(super) fn park(&self, parker: &mut Parker, waker: &Waker) {
        self.wakers.park(parker, waker, |flags| {
            self.state.fetch_or(flags, Ordering::AcqRel);
            true
        });
    }

    /// Wakes the waiting side if it has parked. Must follow the change that it waits for.
    #[inline]
    pub(super) fn unpark(&self, unparker: &mut Unparker) {
        let flags = self.state.swap(0, Ordering::AcqRel);
        if flags != 0 {
            self.wakers.wake(unparker, flags);
        }
    }
}

/// What the sender knows beside the ring into which messages go now.
#[derive(Default)]
pub(super) struct SenderState {
    /// Whether it waits where the queue is full.
    pub(super) waits: bool,
    /// The session that has begun ahead of the receiver, while the ring is held.
    pub(super) session: usize,
    pub(super) receiver: Unparker,
    pub(super) own: Parker,
}

impl SenderState {
    pub(super) fn new(waits: bool) -> Self {
        Self { waits, ..Self::default() }
    }
}

/// What the receiver knows beside the ring out of which messages come now.
#[derive(Default)]
pub(super) struct ReceiverState {
    /// Whether the sender may wait.
    pub(super) sender_waits: bool,
    pub(super) sender: Unparker,
    pub(super) own: Parker,
    pub(super) retry: Retry,
}

impl ReceiverState {
    pub(super) fn new(sender_waits: bool) -> Self {
        Self { sender_waits, ..Self::default() }
    }
}

/// When a receiver in a [`join`](crate::join()) asks to be polled once more before it parks.
///
/// In one task, the sender is mostly polled before the receiver's next turn. Then to ask for a
/// turn, which only sets a bit, is cheaper than to park and be woken, which takes a step on the
/// queue's word on which all cores must agree. Where the turn came too soon, the receiver parks,
/// and does not ask again for a while.
#[derive(Debug, Default)]
pub(super) struct Retry {
    /// What the receiver saw when it last asked; if it sees the same again, asking was in vain.
    asked: Option<Empty>,
    /// How many times to park without asking.
    parks: u8,
}

impl Retry {
    /// How many times a receiver parks at once after it has asked in vain.
    const PARKS: u8 = 15;

    /// Whether to ask for another turn: at most once for each message.
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
