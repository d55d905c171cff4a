//! The sending half of a queue.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::{fmt, mem};

use futures_sink::Sink;

use super::parking::{Parker, ReceiverState, SenderState};
use super::ring::ring;
use super::shared::{FULL, GONE, Producer, Shared};
use crate::sync::atomic::Ordering;
use crate::transport::capacity::{Capacity, Queue};
use crate::transport::link::Disconnected;

/// The sending half of a queue.
///
/// As a [`Sink`] it is always ready, unless the queue [waits](Capacity::Waits) and is full.
/// Dropping it closes the queue; the receiver still gets the messages sent before.
pub struct QueueSender<M> {
    /// The ring that takes messages now. It has ended once this half is closed.
    producer: Producer<M>,
}

impl<M> QueueSender<M> {
    pub(super) fn new(producer: Producer<M>) -> Self {
        Self { producer }
    }

    /// The names of the queue's roles and the queue's capacity.
    #[must_use]
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

    /// Begins a session. Its messages reach the receiver once that has completed the sessions
    /// before. Waits if the receiver has not begun the session of the last message yet.
    #[doc(hidden)]
    #[inline]
    pub fn poll_begin(&mut self, session: usize, waker: &Waker) -> Poll<()> {
        if self.producer.shared().completed.load(Ordering::Acquire) >= session {
            return Poll::Ready(());
        }
        self.begin_ahead(session, waker)
    }

    /// The number of sessions that the receiver has completed. Used by `rumpsteak-net`.
    #[doc(hidden)]
    pub fn completed(&self) -> usize {
        self.producer.shared().completed.load(Ordering::Acquire)
    }

    /// Begins a session that the receiver cannot begin yet: the sender is ahead.
    #[cold]
    #[inline(never)]
    fn begin_ahead(&mut self, session: usize, waker: &Waker) -> Poll<()> {
        let waits = |this: &Self| {
            let due = this.producer.shared().due.load(Ordering::Acquire);
            due > 0 && !this.receiver_is_gone()
        };
        if waits(self) {
            let (shared, state) = self.producer.state();
            shared.sender.park(&mut state.own, waker);
            if waits(self) {
                return Poll::Pending;
            }
        }
        if !self.producer.has_ended() {
            self.producer.hold();
            self.producer.state().1.session = session;
        }
        Poll::Ready(())
    }

    /// Returns true if there is room for a message of the current session.
    #[inline]
    fn has_room(&mut self) -> bool {
        self.producer.has_room() || self.is_opened() && self.producer.has_room()
    }

    /// Decides, at the first message of a session that began ahead of the receiver, if it needs a
    /// new ring. Returns true if the decision was due.
    fn is_opened(&mut self) -> bool {
        if !self.producer.release() {
            return false;
        }
        let session = self.producer.state().1.session;
        if self.producer.shared().completed.load(Ordering::Acquire) < session {
            self.go_on(self.producer.capacity(), session);
        }
        true
    }

    /// Continues in a new ring of this size, which the receiver enters in this session.
    fn go_on(&mut self, size: usize, session: usize) {
        let (mut producer, consumer) = ring(
            size,
            || Shared::new(self.queue(), session),
            SenderState::default,
            ReceiverState::default,
        );
        self.producer.shared().continue_at(consumer);
        self.end_ring();
        *producer.state().1 = mem::take(self.producer.state().1);
        // The receiver may not have taken the waker that was left at the old ring.
        producer.state().1.own = Parker::default();
        self.producer = producer;
    }

    #[inline]
    fn obstacle(&self) -> usize {
        self.producer.shared().obstacle.load(Ordering::Acquire)
    }

    fn receiver_is_gone(&self) -> bool {
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
    fn end_ring(&mut self) {
        let flags = self.producer.end();
        self.wake(flags);
    }

    /// Wakes a receiver that has parked with these flags. With no flags it has not parked.
    #[inline]
    fn wake(&mut self, flags: usize) {
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

thread_local! {
    /// The number of sessions completed by the role whose routes this thread is dropping.
    static LEAVING_AFTER: Cell<usize> = const { Cell::new(0) };
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

// It is never pinned: messages are only moved.
impl<M> Unpin for QueueSender<M> {}

impl<M> fmt::Debug for QueueSender<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueSender")
            .field("queue", &self.queue())
            .field("closed", &self.producer.has_ended())
            .finish_non_exhaustive()
    }
}

/// The name of the queue in the message of a panic.
fn name(Queue { from, to, .. }: Queue) -> String {
    match (from, to) {
        ("", "") => "the channel".to_owned(),
        _ => format!("the channel from `{from}` to `{to}`"),
    }
}
