//! Successive sessions over one queue, kept apart by their numbers.
//!
//! A sender may begin a session before its receiver has completed the one before. Then it continues
//! in a new ring, which the receiver enters in that session.
//!
//! If a message may come when the receiver has ended the session, the sender also tells when it has
//! ended the session. The receiver completes the session only then, and drops what it finds. So a
//! sender that is ahead uses a new ring, and nothing of the next session is dropped.

use std::mem;
use std::task::{Poll, Waker};

use super::parking::{Parker, ReceiverState, SenderState};
use super::receiver::QueueReceiver;
use super::ring::ring;
use super::sender::QueueSender;
use super::shared::Shared;
use crate::sync::atomic::Ordering;

impl<M> QueueSender<M> {
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

    /// Tells the receiver that this end has ended its session, as one of so many.
    #[doc(hidden)]
    pub fn end(&mut self, sessions: usize) {
        if self.producer.shared().left_after.swap(sessions, Ordering::AcqRel) == sessions {
            return;
        }
        let flags = self.producer.touch();
        self.wake(flags);
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

    /// Decides, at the first message of a session that began ahead of the receiver, if it needs a
    /// new ring. Returns true if the decision was due.
    pub(super) fn is_opened(&mut self) -> bool {
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
    pub(super) fn go_on(&mut self, size: usize, session: usize) {
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
}

impl<M> QueueReceiver<M> {
    /// Records that the role has completed `sessions` sessions: it now receives messages of the
    /// next one.
    #[doc(hidden)]
    #[inline]
    pub fn complete(&mut self, sessions: usize) {
        self.consumer.shared().completed.store(sessions, Ordering::Release);
    }

    /// True if the role has completed so many sessions. Used by `rumpsteak-net`.
    #[doc(hidden)]
    pub fn has_completed(&self, sessions: usize) -> bool {
        self.consumer.shared().completed.load(Ordering::Relaxed) >= sessions
    }

    /// Waits until the sender has [ended](QueueSender::end) its session, as one of so many, or is
    /// gone, and completes it. Passes what has come too late to `dropped`.
    #[doc(hidden)]
    pub fn poll_end(
        &mut self,
        sessions: usize,
        mut dropped: impl FnMut(M),
        waker: &Waker,
    ) -> Poll<()> {
        let mut is_parked = false;
        while !self.has_completed(sessions) {
            // What was sent before the end is in the queue now.
            let is_over = self.left_after() >= sessions;
            match self.take_if(|_| true) {
                Ok(Some(message)) => message.into_iter().for_each(&mut dropped),
                Ok(None) => self.complete(sessions),
                Err(_) if is_over => self.complete(sessions),
                // It has looked since it parked.
                Err(_) if is_parked => return Poll::Pending,
                Err(empty) => is_parked = self.parks_now(empty, waker),
            }
        }
        Poll::Ready(())
    }
}
