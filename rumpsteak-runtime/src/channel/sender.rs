//! The sending half of a queue.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::{fmt, mem};

use futures_sink::Sink;

use super::parking::{Parker, ReceiverState, SenderState};
use super::ring::ring;
use super::shared::{GONE, Producer, Shared};
use crate::sync::atomic::Ordering;
use crate::transport::capacity::{Capacity, Queue};
use crate::transport::link::Disconnected;

/// The sending half of a queue.
///
/// As a [`Sink`] it is ready unless the queue is one that [waits](Capacity::Waits) and is full. It
/// closes when it is dropped; the receiver still gets what was sent before.
pub struct QueueSender<M> {
    /// The ring into which messages go now. It has ended once this half is closed.
    producer: Producer<M>,
}

impl<M> QueueSender<M> {
    pub(super) fn new(producer: Producer<M>) -> Self {
        Self { producer }
    }

    /// The names of the queue's roles, and its capacity.
    #[must_use]
    pub fn queue(&self) -> Queue {
        self.producer.shared().queue
    }

    /// Puts a message into the queue at once. Returns the message if the receiver is gone, this
    /// half was closed, or the queue is full and its senders [wait](Capacity::Waits).
    /// Panics if the queue is full, and it was proven that it [never is](Capacity::AtMost).
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

    /// Drops this half in the place of a role that has left in order, after it had completed so
    /// many sessions: its receiver can [tell](super::QueueReceiver::left_after).
    pub fn leave(self, completed: usize) {
        leave(&mut Some(self), completed);
    }

    /// Begins the session of this number: its messages reach the receiver once that has completed
    /// those before. Waits if the receiver has not even begun the session of what was sent last.
    #[doc(hidden)]
    #[inline]
    pub fn poll_begin(&mut self, session: usize, waker: &Waker) -> Poll<()> {
        if self.producer.shared().completed.load(Ordering::Acquire) >= session {
            return Poll::Ready(());
        }
        self.begin_ahead(session, waker)
    }

    /// For `rumpsteak-net`: the number of sessions that the receiver has completed.
    #[doc(hidden)]
    pub fn completed(&self) -> usize {
        self.producer.shared().completed.load(Ordering::Acquire)
    }

    /// Begins a session that the receiver cannot begin yet.
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

    /// Returns true if there is room for a message of the session that has begun.
    #[inline]
    fn has_room(&mut self) -> bool {
        self.producer.has_room() || self.is_opened() && self.producer.has_room()
    }

    /// Goes on to a ring of the session that has begun if the receiver has not completed those
    /// before, when the first message is sent. Returns true if that was to be decided.
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

    /// Goes on to a new ring of this size, to which the receiver comes in this session.
    fn go_on(&mut self, size: usize, session: usize) {
        let (mut producer, consumer) = ring(
            size,
            || Shared::due(self.queue(), session),
            SenderState::default,
            ReceiverState::default,
        );
        self.producer.shared().continue_at(consumer);
        self.end_ring();
        *producer.state().1 = mem::take(self.producer.state().1);
        // The receiver may not have taken the waker that was left at the former ring.
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
    // Into the action: a message that is written by parts and then read as a whole, to be moved,
    // waits until all of it has left the processor's buffer.
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

    /// Ends the ring, whose receiver then looks for the next one.
    fn end_ring(&mut self) {
        let flags = self.producer.end();
        self.wake(flags);
    }

    /// Wakes a receiver that has parked with these flags, if it has.
    #[inline]
    fn wake(&mut self, flags: usize) {
        if flags != 0 {
            let (shared, state) = self.producer.state();
            shared.receiver.wake(&mut state.receiver, flags);
        }
    }

    /// The rare case of [`poll_ready`](Sink::poll_ready): the sender waits for room, or the
    /// receiver is gone.
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

    /// Takes a message for which the ring has no room.
    #[cold]
    #[inline(never)]
    fn overflow(&mut self, message: M) -> Result<(), Disconnected> {
        if self.producer.has_ended() {
            return Err(Disconnected);
        }
        if self.is_opened() {
            return self.put(message);
        }
        let Queue { from, to, capacity } = self.queue();
        match capacity {
            Capacity::Growable => {
                let size = self.producer.capacity().saturating_mul(2);
                // The receiver comes to both in one session, unless it has come to this one.
                let due = self.producer.shared().due.load(Ordering::Acquire);
                self.go_on(size, due);
                self.put(message)
            }
            Capacity::AtMost(most) => {
                panic!(
                    "{} is full: its capacity is {most}, and it was proven that its sessions \
                     never have more messages under way; those that were put into the route by \
                     hand, past a session, count too",
                    Named(from, to)
                )
            }
            // The contract of `Sink`: no message without `poll_ready` before.
            Capacity::Waits(_) => {
                panic!(
                    "{} is full, and a message was sent without waiting for room",
                    Named(from, to)
                )
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
        if this.obstacle() == 0 { Poll::Ready(Ok(())) } else { this.wait(context) }
    }

    /// Panics if the queue is full, and not [growable](Capacity::Growable).
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
        // Nobody is told that there are no more messages where nobody is left.
        if !self.receiver_is_gone() {
            self.close();
        }
    }
}

thread_local! {
    /// How many sessions the role has completed whose routes this thread is dropping in order.
    static LEAVING_AFTER: Cell<usize> = const { Cell::new(0) };
}

/// Drops the halves of a route, whose role has completed so many sessions and is in none: what
/// receives from them can tell that from a session that was aborted. By a variable of the thread,
/// because a route may be made of any halves, and those that do not care know nothing of it.
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

// It is never pinned: a message is only moved.
impl<M> Unpin for QueueSender<M> {}

impl<M> fmt::Debug for QueueSender<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueSender")
            .field("queue", &self.queue())
            .field("closed", &self.producer.has_ended())
            .finish_non_exhaustive()
    }
}

/// The name of a queue in the message of a panic.
struct Named(&'static str, &'static str);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self("", "") => f.write_str("the channel"),
            Self(from, to) => write!(f, "the channel from `{from}` to `{to}`"),
        }
    }
}
