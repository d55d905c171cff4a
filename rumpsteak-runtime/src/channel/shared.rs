//! The state that both ends of a queue share beside the messages.

use std::cell::Cell;
use std::ops::DerefMut;
use std::sync::PoisonError;
use std::task::Poll;

use super::parking::{Parking, ReceiverState, SenderState, WakerSlot};
use super::ring;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{self, Mutex};
use crate::transport::capacity::{Capacity, Queue};

pub(super) type Producer<M> = ring::Producer<M, Shared<M>, SenderState, ReceiverState>;

pub(super) type Consumer<M> = ring::Consumer<M, Shared<M>, SenderState, ReceiverState>;

/// The queue waits and may be full.
pub(super) const FULL: usize = 1;
/// The receiver is gone.
pub(super) const GONE: usize = 2;

/// The state that both ends of a queue share. It lies in the memory of the ring, so each ring of a
/// growing queue has its own. The fields used for each message come first, which keeps the rest
/// between them and what follows in the ring.
#[repr(C)]
pub(super) struct Shared<M> {
    pub(super) queue: Queue,
    /// [`FULL`] or [`GONE`] if a send must look closer, else 0. A whole word, because rustc would
    /// copy a gap behind a smaller field together with what follows.
    pub(super) obstacle: AtomicUsize,
    /// The waker of a receiver at an empty queue, which parks in its ring.
    pub(super) receiver: WakerSlot,
    /// The waker of a sender at a full queue.
    pub(super) sender: Parking,
    /// The number of sessions that the sender's role had completed when it left in order; 0 if it
    /// did not. Written before the last ring ends, and by a sender that tells when it has ended a
    /// session.
    pub(super) left_after: AtomicUsize,
    /// The number of sessions that the receiver's role has completed, while it uses this ring.
    pub(super) completed: AtomicUsize,
    /// The session in which the receiver may enter this ring; 0 once it has.
    pub(super) due: AtomicUsize,
    /// The ring that follows, until the receiver has entered it.
    next: Mutex<Option<Next<M>>>,
}

/// A ring that the receiver has not entered. If it is dropped together with the ring before it, the
/// receiver is gone.
struct Next<M>(Option<Consumer<M>>);

impl<M> Drop for Next<M> {
    fn drop(&mut self) {
        if let Some(ring) = &mut self.0 {
            ring.shared().leave();
            let (shared, state, _) = ring.state();
            shared.sender.unpark(&mut state.sender);
            drop_messages(ring);
        }
    }
}

/// Drops the messages of a ring whose receiver is gone. The ring lives as long as its sender; the
/// messages need not, except one that is being sent right now.
pub(super) fn drop_messages<M>(ring: &mut Consumer<M>) {
    while ring.pop().is_ok() {}
}

impl<M> Shared<M> {
    /// The state of a ring that the receiver enters in this session.
    pub(super) fn new(queue: Queue, session: usize) -> Self {
        Self {
            queue,
            obstacle: AtomicUsize::new(match queue.capacity {
                Capacity::Waits(_) => FULL,
                Capacity::AtMost(_) | Capacity::Growable => 0,
            }),
            receiver: WakerSlot::new(),
            sender: Parking::new(),
            left_after: AtomicUsize::new(0),
            completed: AtomicUsize::new(0),
            due: AtomicUsize::new(session),
            next: sync::empty(),
        }
    }

    /// Marks that the receiver is gone, after its role has completed some sessions.
    pub(super) fn leave(&self) {
        if let completed @ 1.. = LEAVING_AFTER.get() {
            self.completed.store(completed, Ordering::Release);
        }
        self.obstacle.store(GONE, Ordering::Release);
    }

    /// Sets the ring that follows.
    pub(super) fn continue_at(&self, ring: Consumer<M>) {
        *self.next() = Some(Next(Some(ring)));
    }

    /// Takes the ring that follows, if there is one. Pending if it belongs to a later session.
    pub(super) fn take_next(&self, session: usize) -> Poll<Option<Consumer<M>>> {
        let mut next = self.next();
        let due = |ring: &Consumer<M>| ring.shared().due.load(Ordering::Relaxed);
        if next.as_ref().and_then(|next| next.0.as_ref()).is_some_and(|ring| due(ring) > session) {
            return Poll::Pending;
        }
        Poll::Ready(next.take().and_then(|mut next| next.0.take()))
    }

    /// Locks the next ring. No user code runs under the lock.
    fn next(&self) -> impl DerefMut<Target = Option<Next<M>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// The number of sessions completed by the role whose routes this thread is dropping.
    pub(super) static LEAVING_AFTER: Cell<usize> = const { Cell::new(0) };
}

/// Drops the halves of a route whose role has completed this many sessions and is in none, so that
/// its peer can tell this from an aborted session. The number is passed in a thread-local variable,
/// because a route may consist of any halves.
pub(crate) fn leave<T>(halves: &mut Option<T>, completed: usize) {
    struct Before(usize);
    impl Drop for Before {
        fn drop(&mut self) {
            LEAVING_AFTER.set(self.0);
        }
    }
    let _before = Before(LEAVING_AFTER.replace(completed));
    *halves = None;
}
