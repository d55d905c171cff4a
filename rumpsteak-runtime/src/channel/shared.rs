//! The state that both ends of a queue share.

use std::collections::VecDeque;
use std::ops::DerefMut;
use std::sync::PoisonError;

use super::parking::{Parking, WakerSlot};
use super::ring::Consumer;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use crate::transport::capacity::Queue;

/// The state that both ends of a queue share.
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
    /// The rings of a growable queue to which the receiver has not yet come, first to last. A ring
    /// has ended when another one follows it in here, or when the sender is gone.
    next: Mutex<VecDeque<Consumer<M>>>,
}

impl<M> Shared<M> {
    pub(super) fn new(queue: Queue) -> Self {
        Self {
            queue,
            receiver: WakerSlot::new(),
            sender: Parking::new(),
            receiver_is_gone: AtomicBool::new(false),
            left_after: AtomicUsize::new(0),
            next: Mutex::new(VecDeque::new()),
        }
    }

    /// The following rings, locked. No code of users runs under the lock.
    pub(super) fn next(&self) -> impl DerefMut<Target = VecDeque<Consumer<M>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
