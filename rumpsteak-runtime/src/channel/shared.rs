//! What both ends of a queue share beside the messages.

use std::ops::DerefMut;
use std::sync::PoisonError;

use super::parking::{Parking, ReceiverState, SenderState, WakerSlot};
use super::ring;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{self, Mutex};
use crate::transport::capacity::{Capacity, Queue};

pub(super) type Producer<M> = ring::Producer<M, Shared<M>, SenderState, ReceiverState>;

pub(super) type Consumer<M> = ring::Consumer<M, Shared<M>, SenderState, ReceiverState>;

/// The queue may be full.
const FULL: usize = 1;
/// The receiver is gone.
pub(super) const GONE: usize = 2;

/// What both ends of a queue share beside the messages: in the memory of the ring, each of a queue
/// that grows has its own. What each message is sent by comes first: the rest keeps it apart from
/// what the ring has behind it.
#[repr(C)]
pub(super) struct Shared<M> {
    pub(super) queue: Queue,
    /// What may keep a message from being sent: [`FULL`], if the sender waits then, or [`GONE`].
    /// A word, so that there is no gap behind it: rustc would copy that with what follows.
    pub(super) obstacle: AtomicUsize,
    /// For the receiver of an empty queue, which parks in its ring.
    pub(super) receiver: WakerSlot,
    /// For the sender of a full queue that waits.
    pub(super) sender: Parking,
    /// How many sessions the sender's role had completed when it was dropped in order; 0 as long as
    /// it was not, and for good if it never completes one. Written before the last ring ends.
    pub(super) left_after: AtomicUsize,
    /// How many sessions the receiver's role has completed: as long as it receives from this ring.
    pub(super) completed: AtomicUsize,
    /// The session in which the receiver may come to this ring, until it has; then 0.
    pub(super) due: AtomicUsize,
    /// Where the receiver goes on when this ring has ended, if it has not done so.
    next: Mutex<Option<Next<M>>>,
}

/// Where the receiver of a ring that has ended goes on.
pub(super) enum Following<M> {
    /// At this ring.
    Ring(Consumer<M>),
    /// At a ring of a later session: nothing more comes in this one.
    Later,
    /// Nowhere: the sender is gone.
    Nothing,
}

/// A ring to which the receiver has not come. If it is dropped here, with the ring before it, the
/// receiver was, too, and never comes.
struct Next<M>(Option<Consumer<M>>);

impl<M> Drop for Next<M> {
    fn drop(&mut self) {
        if let Some(ring) = &mut self.0 {
            ring.shared().leave();
            let (shared, state) = ring.state();
            shared.sender.unpark(&mut state.sender);
            drop_messages(ring);
        }
    }
}

/// Drops the messages of a ring whose receiver is gone. The ring itself lives as long as its
/// sender. The messages need not, save one that is sent at this very moment.
pub(super) fn drop_messages<M>(ring: &mut Consumer<M>) {
    while ring.pop().is_ok() {}
}

impl<M> Shared<M> {
    pub(super) fn new(queue: Queue) -> Self {
        Self::due(queue, 0)
    }

    /// For a ring to which the receiver comes in this session.
    pub(super) fn due(queue: Queue, session: usize) -> Self {
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

    pub(super) fn leave(&self) {
        self.obstacle.store(GONE, Ordering::Release);
    }

    /// Says which ring follows.
    pub(super) fn continue_at(&self, ring: Consumer<M>) {
        *self.next() = Some(Next(Some(ring)));
    }

    /// The ring that follows, for the receiver in this session, which goes there unless the ring
    /// is of a later one.
    pub(super) fn take_next(&self, session: usize) -> Following<M> {
        let mut next = self.next();
        let due = |ring: &Consumer<M>| ring.shared().due.load(Ordering::Relaxed);
        if next.as_ref().and_then(|next| next.0.as_ref()).is_some_and(|ring| due(ring) > session) {
            return Following::Later;
        }
        let ring = next.take().and_then(|mut next| next.0.take());
        ring.map_or(Following::Nothing, Following::Ring)
    }

    /// No code of users runs under the lock.
    fn next(&self) -> impl DerefMut<Target = Option<Next<M>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
