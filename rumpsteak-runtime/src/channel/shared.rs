//! What both ends of a queue share beside the messages.

use std::mem;
use std::ops::DerefMut;
use std::sync::PoisonError;

use super::parking::{Parking, WakerSlot};
use super::ring;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::transport::capacity::{Capacity, Queue};

/// The writing side of a ring of a queue.
pub(super) type Producer<M> = ring::Producer<M, Shared<M>>;

/// The reading side of a ring of a queue.
pub(super) type Consumer<M> = ring::Consumer<M, Shared<M>>;

/// What both ends of a queue share beside the messages: in the memory of the ring, each of a queue
/// that grows has its own.
pub(super) struct Shared<M> {
    pub(super) queue: Queue,
    /// For the receiver of an empty queue, which parks in its ring.
    pub(super) receiver: WakerSlot,
    /// For the sender of a full queue that waits.
    pub(super) sender: Parking,
    pub(super) receiver_is_gone: AtomicBool,
    /// How many sessions the sender's role had completed when it was dropped in order; 0 as long as
    /// it was not, and for good if it never completes one. Written before the last ring ends.
    pub(super) left_after: AtomicUsize,
    /// Where the receiver goes on when this ring has ended.
    next: Mutex<Next<M>>,
}

/// What follows a ring.
enum Next<M> {
    /// Nothing yet, or the receiver is there already.
    Nothing,
    /// A larger ring.
    Ring(Consumer<M>),
    /// Nothing ever: the receiver was dropped at this ring.
    Abandoned,
}

impl<M> Shared<M> {
    pub(super) fn new(queue: Queue) -> Self {
        Self {
            queue,
            receiver: WakerSlot::new(),
            sender: Parking::new(),
            receiver_is_gone: AtomicBool::new(false),
            left_after: AtomicUsize::new(0),
            next: Mutex::new(Next::Nothing),
        }
    }

    /// Says which ring follows; `false` if the receiver is gone and never comes there.
    pub(super) fn continue_at(&self, ring: Consumer<M>) -> bool {
        let mut next = self.next();
        if matches!(*next, Next::Abandoned) {
            return false;
        }
        *next = Next::Ring(ring);
        true
    }

    /// The ring that follows, if there is one: for the receiver, which goes there.
    pub(super) fn take_next(&self) -> Option<Consumer<M>> {
        mem::replace(&mut *self.next(), Next::Nothing).into_ring()
    }

    /// Says that the receiver is gone. The ring that follows, to which that has to be said too.
    pub(super) fn abandon(&self) -> Option<Consumer<M>> {
        self.receiver_is_gone.store(true, Ordering::Release);
        if self.queue.capacity != Capacity::Growable {
            return None;
        }
        mem::replace(&mut *self.next(), Next::Abandoned).into_ring()
    }

    /// No code of users runs under the lock.
    fn next(&self) -> impl DerefMut<Target = Next<M>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Next<M> {
    fn into_ring(self) -> Option<Consumer<M>> {
        match self {
            Self::Ring(ring) => Some(ring),
            Self::Nothing | Self::Abandoned => None,
        }
    }
}
