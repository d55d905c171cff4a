use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use futures_core::Stream;

use super::parking::Parker;
use super::ring::{Empty, PARKED};
use super::shared::{Consumer, drop_messages};
use crate::sync::atomic::Ordering;
use crate::transport::capacity::Queue;
use crate::{testing, woken};

/// The receiving half of a queue.
///
/// As a [`Stream`] it ends when the sender is gone and the queue is empty. Dropping it drops the
/// messages in the queue, and later sends fail with [`Disconnected`](super::Disconnected).
pub struct QueueReceiver<M> {
    /// The ring that messages come from now.
    pub(super) consumer: Consumer<M>,
}

impl<M> QueueReceiver<M> {
    /// The names of the queue's roles and the queue's capacity.
    pub fn queue(&self) -> Queue {
        self.consumer.shared().queue
    }

    /// Takes the next message if there is one now.
    pub fn try_receive(&mut self) -> Option<M> {
        self.take_if(|_| true).ok().flatten().flatten()
    }

    /// A [`poll_next`](Stream::poll_next) that leaves an unwanted message in the queue and returns
    /// `Some(None)`. If the queue is empty and has not ended, it parks only if `waits` is true.
    #[doc(hidden)]
    #[inline(always)]
    pub fn poll_if(
        &mut self,
        waits: bool,
        is_wanted: impl Fn(&M) -> bool,
        context: &Context<'_>,
    ) -> Poll<Option<Option<M>>> {
        loop {
            match self.take_if(&is_wanted) {
                Ok(next) => return Poll::Ready(next),
                Err(empty) if !waits || self.parks(empty, context) => return Poll::Pending,
                Err(_) => {}
            }
        }
    }

    /// Takes the next message if it is wanted. Returns `Some(None)` if it is not, `None` if the
    /// queue has ended, and an error if it is empty for now.
    #[inline(always)]
    pub(super) fn take_if(
        &mut self,
        is_wanted: impl Fn(&M) -> bool,
    ) -> Result<Option<Option<M>>, Empty> {
        loop {
            let empty = match self.consumer.pop_if(&is_wanted) {
                Ok(next) => {
                    if next.is_some() {
                        self.made_room();
                    }
                    return Ok(Some(next));
                }
                Err(empty) => empty,
            };
            match empty.is_final().then(|| self.go_on()) {
                Some(Poll::Ready(true)) => {}
                Some(Poll::Ready(false)) => return Ok(None),
                Some(Poll::Pending) | None => return Err(empty),
            }
        }
    }

    /// Parks unless something has arrived meanwhile, or soon will.
    #[inline(always)]
    fn parks(&mut self, empty: Empty, context: &Context<'_>) -> bool {
        let (_, state, _) = self.consumer.state();
        if empty.is_parked() && state.own.is_known(context.waker()) {
            return true;
        }
        if woken::is_polling() && state.retry.is_due(empty) {
            context.waker().wake_by_ref();
            return true;
        }
        self.parks_now(empty, context.waker())
    }

    /// Parks unless something has arrived meanwhile.
    #[inline(never)]
    pub(super) fn parks_now(&mut self, empty: Empty, waker: &Waker) -> bool {
        let (shared, state, word) = self.consumer.state();
        shared.receiver.park(&mut state.own, waker, |flags| word.park(empty, flags))
    }

    /// Returns true if the next message will wake this waker.
    #[inline(always)]
    pub(crate) fn is_parked(&self, waker: &Waker) -> bool {
        self.consumer.is_parked() && self.consumer.state_ref().own.is_known(waker)
    }

    /// The number of sessions that the sender's role had completed when it left in order; 0 if it
    /// did not. Before that, the number of sessions that the sender has told to have ended.
    pub fn left_after(&self) -> usize {
        self.consumer.shared().left_after.load(Ordering::Acquire)
    }

    /// Wakes a sender that waits for room.
    #[inline]
    fn made_room(&mut self) {
        let (shared, state, _) = self.consumer.state();
        if state.sender_waits {
            shared.sender.unpark(&mut state.sender);
        }
    }

    /// The rare cases of [`poll_next`](Stream::poll_next): a ring that has ended, a new waker, or a
    /// message that arrived meanwhile.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, context: &Context<'_>) -> Poll<Option<M>> {
        loop {
            match self.take_if(|_| true) {
                Ok(next) => return Poll::Ready(next.flatten()),
                Err(_) if testing::ends_queues() => return Poll::Ready(None),
                Err(empty) if self.parks_now(empty, context.waker()) => return Poll::Pending,
                Err(_) => {}
            }
        }
    }

    /// Leaves a ring that has ended and enters the next one. Returns false if the sender is gone;
    /// pending if the next ring belongs to a session that the role has not begun.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self) -> Poll<bool> {
        let completed = self.consumer.shared().completed.load(Ordering::Relaxed);
        let Some(mut next) = ready!(self.consumer.shared().take_next(completed)) else {
            return Poll::Ready(false);
        };
        let (shared, state, _) = next.state();
        *state = mem::take(self.consumer.state().1);
        // The sender may not have taken the waker that was left at the old ring.
        state.own = Parker::default();
        shared.completed.store(completed, Ordering::Release);
        shared.due.store(0, Ordering::Release);
        shared.sender.unpark(&mut state.sender);
        self.consumer = next;
        Poll::Ready(true)
    }
}

impl<M> Drop for QueueReceiver<M> {
    fn drop(&mut self) {
        self.consumer.shared().leave();
        self.made_room();
        drop_messages(&mut self.consumer);
    }
}

impl<M> Stream for QueueReceiver<M> {
    type Item = M;

    #[inline(always)]
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<M>> {
        let this = self.get_mut();
        let empty = match this.consumer.pop() {
            Ok(message) => {
                this.made_room();
                return Poll::Ready(Some(message));
            }
            Err(empty) => empty,
        };
        if empty.is_final() {
            return this.wait(context);
        }
        let (_, state, word) = this.consumer.state();
        if woken::is_polling() && state.retry.is_due(empty) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        // The common case: nothing was sent meanwhile, and the sender already has this waker.
        if state.own.is_known(context.waker()) && word.park(empty, PARKED) {
            return Poll::Pending;
        }
        this.wait(context)
    }
}

impl_debug!([M] QueueReceiver<M>, "queue": |it| it.queue());
