use std::pin::Pin;
use std::task::{Context, Poll};

use futures_sink::Sink;

use super::shared::{FULL, GONE, LEAVING_AFTER, Producer, leave};
use crate::sync::atomic::Ordering;
use crate::transport::capacity::{Capacity, Queue};
use crate::transport::link::Disconnected;

/// The sending half of a queue.
///
/// As a [`Sink`] it is always ready, unless the queue [waits](Capacity::Waits) and is full.
/// Dropping it closes the queue; the receiver still gets the messages sent before.
pub struct QueueSender<M> {
    /// The ring that takes messages now. It has ended once this half is closed.
    pub(super) producer: Producer<M>,
}

impl<M> QueueSender<M> {
    /// The names of the queue's roles and the queue's capacity.
    pub fn queue(&self) -> Queue {
        self.producer.shared().queue
    }

    /// Puts a message into the queue at once. Returns the message if the receiver is gone, this
    /// half is closed, or the queue is full and its senders [wait](Capacity::Waits). Panics if the
    /// queue is full and was proven [never to be](Capacity::AtMost).
    pub fn try_send(&mut self, message: M) -> Result<(), M> {
        let is_refused = self.producer.has_ended()
            || self.receiver_is_gone()
            || self.producer.state().1.waits && !self.has_room();
        if is_refused {
            return Err(message);
        }
        let _ = self.put(message);
        Ok(())
    }

    /// Drops this half on behalf of a role that has left after completing `completed` sessions: see
    /// [`QueueReceiver::left_after`](super::QueueReceiver::left_after).
    pub fn leave(self, completed: usize) {
        leave(&mut Some(self), completed);
    }

    /// Returns true if there is room for a message of the current session.
    #[inline]
    fn has_room(&mut self) -> bool {
        self.producer.has_room() || self.is_opened() && self.producer.has_room()
    }

    #[inline]
    fn obstacle(&self) -> usize {
        self.producer.shared().obstacle.load(Ordering::Acquire)
    }

    pub(super) fn receiver_is_gone(&self) -> bool {
        self.obstacle() == GONE
    }

    /// Puts a message into a queue that is ready for it.
    // Inlined into the action: a message written in parts and then moved as a whole would stall
    // until the processor's store buffer is empty.
    #[inline(always)]
    fn put(&mut self, message: M) -> Result<(), Disconnected> {
        match self.producer.push(message) {
            Ok(flags) => {
                self.wake(flags);
                Ok(())
            }
            Err(message) => self.overflow(message),
        }
    }

    fn close(&mut self) {
        if !self.producer.has_ended() {
            self.end_ring();
        }
    }

    /// Ends the ring. Its receiver then looks for the next one.
    pub(super) fn end_ring(&mut self) {
        let flags = self.producer.end();
        self.wake(flags);
    }

    /// Wakes a receiver that has parked with these flags. With no flags it has not parked.
    #[inline]
    pub(super) fn wake(&mut self, flags: usize) {
        if flags != 0 {
            let (shared, state) = self.producer.state();
            shared.receiver.wake(&mut state.receiver, flags);
        }
    }

    /// The rare cases of [`poll_ready`](Sink::poll_ready): the queue may be full, or the receiver
    /// is gone.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, context: &Context<'_>) -> Poll<Result<(), Disconnected>> {
        if self.producer.has_ended() || self.receiver_is_gone() {
            return Poll::Ready(Err(Disconnected));
        }
        if !self.producer.state().1.waits || self.has_room() {
            return Poll::Ready(Ok(()));
        }
        let (shared, state) = self.producer.state();
        shared.sender.park(&mut state.own, context.waker());
        if self.receiver_is_gone() {
            Poll::Ready(Err(Disconnected))
        } else if self.producer.has_room() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    /// Puts in a message for which the ring has no room.
    #[cold]
    #[inline(never)]
    fn overflow(&mut self, message: M) -> Result<(), Disconnected> {
        if self.producer.has_ended() {
            return Err(Disconnected);
        }
        if self.is_opened() {
            return self.put(message);
        }
        let queue = self.queue();
        match queue.capacity {
            Capacity::Growable => {
                let size = self.producer.capacity().saturating_mul(2);
                // Both rings belong to the same session, unless the receiver is already here.
                let due = self.producer.shared().due.load(Ordering::Acquire);
                self.go_on(size, due);
                self.put(message)
            }
            Capacity::AtMost(most) => {
                panic!(
                    "{} is full: its capacity is {most}, which its sessions never exceed; messages that \
                     were put into the route by hand count too",
                    name(queue)
                )
            }
            // The contract of `Sink`: `poll_ready` comes before `start_send`.
            Capacity::Waits(_) => {
                panic!("{} is full, and a message was sent without waiting for room", name(queue))
            }
        }
    }
}

impl<M> Sink<M> for QueueSender<M> {
    type Error = Disconnected;

    #[inline]
    fn poll_ready(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Disconnected>> {
        let this = self.get_mut();
        match this.obstacle() {
            0 => Poll::Ready(Ok(())),
            FULL if this.producer.saw_room() => Poll::Ready(Ok(())),
            _ => this.wait(context),
        }
    }

    /// Panics if the queue is full and not [growable](Capacity::Growable).
    #[inline(always)]
    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), Disconnected> {
        self.get_mut().put(message)
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Disconnected>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Disconnected>> {
        self.get_mut().close();
        Poll::Ready(Ok(()))
    }
}

impl<M> Drop for QueueSender<M> {
    fn drop(&mut self) {
        self.producer.shared().left_after.store(LEAVING_AFTER.get(), Ordering::Relaxed);
        // If the receiver is gone, there is nothing to report to it.
        if !self.receiver_is_gone() {
            self.close();
        }
    }
}

impl_debug!([M] QueueSender<M>, "queue": |it| it.queue(), "closed": |it| it.producer.has_ended());

/// The name of the queue in the message of a panic.
fn name(Queue { from, to, .. }: Queue) -> String {
    match (from, to) {
        ("", "") => "the channel".to_owned(),
        _ => format!("the channel from `{from}` to `{to}`"),
    }
}
