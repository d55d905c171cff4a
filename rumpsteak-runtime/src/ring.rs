//! Routes over rings of a fixed size.
//!
//! In each direction of a route there is one sender and one receiver, and a verified protocol bounds
//! how many messages can be under way. A ring of that size needs no allocation and no lock: `rtrb`
//! holds the messages, `diatomic-waker` wakes the receiver. A sender never waits, so it needs no
//! waker.
//!
//! The wake-ups, which the tests run on two threads: a sender first makes its change visible (a
//! message in the ring, or the ring abandoned) and then notifies. A receiver that finds nothing
//! first registers its waker and then looks again. Whichever comes second sees the other.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use diatomic_waker::{WakeSink, WakeSource};
use futures::{Sink, Stream};
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::route::{Bidirectional, Pair};

/// A route over two rings: room for `SENT` messages on the way out, and `RECEIVED` on the way in.
///
/// A role writes the numbers from its own point of view; the route back of the peer has them the
/// other way round. [`Channel`](crate::Channel) needs no numbers and is the default.
///
/// # Choosing the numbers
///
/// A number is how many messages can be under way in that direction at once. Mind that a role may
/// begin its next session while its peers still finish the last one: count over all sessions that
/// run one after the other, not over one. Where no number is large enough, use a `Channel`.
///
/// # Panics
///
/// Sending panics if the ring is full: the number is wrong, and neither waiting nor losing a message
/// is what was verified. The panic poisons the role, like any other.
///
/// ```
/// use futures::{SinkExt, StreamExt, executor::block_on};
/// use rumpsteak_runtime::{Pair, Ring};
///
/// let (left, right) = <Ring<u8, 2, 1> as Pair<Ring<u8, 1, 2>>>::pair();
/// let (mut tx, _) = left.into_inner().unwrap();
/// let (_, mut rx) = right.into_inner().unwrap();
/// block_on(async {
///     tx.send(1).await?;
///     tx.send(2).await?;
///     drop(tx);
///     assert_eq!(rx.collect::<Vec<_>>().await, [1, 2]);
///     Ok::<(), rumpsteak_runtime::RingClosed>(())
/// })?;
/// # Ok::<(), rumpsteak_runtime::RingClosed>(())
/// ```
pub type Ring<M, const SENT: usize, const RECEIVED: usize> =
    Bidirectional<RingSender<M, SENT>, RingReceiver<M, RECEIVED>>;

/// The sending half of a ring with room for `CAPACITY` messages.
pub struct RingSender<M, const CAPACITY: usize> {
    /// `None` once closed.
    producer: Option<Producer<M>>,
    receiver: WakeSource,
}

/// The receiving half of a ring with room for `CAPACITY` messages.
pub struct RingReceiver<M, const CAPACITY: usize> {
    consumer: Consumer<M>,
    waker: WakeSink,
}

/// The receiver of a ring is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingClosed;

impl fmt::Display for RingClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the receiver is gone")
    }
}

impl std::error::Error for RingClosed {}

/// Creates both halves.
fn ring<M, const CAPACITY: usize>() -> (RingSender<M, CAPACITY>, RingReceiver<M, CAPACITY>) {
    const { assert!(CAPACITY > 0, "a ring without room can carry no message") };
    let (producer, consumer) = RingBuffer::new(CAPACITY);
    let waker = WakeSink::new();
    (
        RingSender {
            producer: Some(producer),
            receiver: waker.source(),
        },
        RingReceiver { consumer, waker },
    )
}

impl<M, const CAPACITY: usize> Pair<RingReceiver<M, CAPACITY>> for RingSender<M, CAPACITY> {
    fn pair() -> (Self, RingReceiver<M, CAPACITY>) {
        ring()
    }
}

impl<M, const CAPACITY: usize> Pair<RingSender<M, CAPACITY>> for RingReceiver<M, CAPACITY> {
    fn pair() -> (Self, RingSender<M, CAPACITY>) {
        let (sender, receiver) = ring();
        (receiver, sender)
    }
}

impl<M, const CAPACITY: usize> RingSender<M, CAPACITY> {
    fn open(&mut self) -> Result<&mut Producer<M>, RingClosed> {
        match &mut self.producer {
            Some(producer) if !producer.is_abandoned() => Ok(producer),
            _ => Err(RingClosed),
        }
    }

    fn close(&mut self) {
        // Abandoned first, then notified: the receiver that wakes must see it.
        if self.producer.take().is_some() {
            self.receiver.notify();
        }
    }
}

impl<M, const CAPACITY: usize> Drop for RingSender<M, CAPACITY> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<M, const CAPACITY: usize> Drop for RingReceiver<M, CAPACITY> {
    fn drop(&mut self) {
        // The ring itself lives as long as its sender. The messages need not, save one that is sent
        // at this very moment.
        while self.consumer.pop().is_ok() {}
    }
}

// Neither half is ever pinned: a message in a field of theirs is only moved.
impl<M, const CAPACITY: usize> Unpin for RingSender<M, CAPACITY> {}
impl<M, const CAPACITY: usize> Unpin for RingReceiver<M, CAPACITY> {}

impl<M, const CAPACITY: usize> Sink<M> for RingSender<M, CAPACITY> {
    type Error = RingClosed;

    #[inline]
    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), RingClosed>> {
        Poll::Ready(self.get_mut().open().map(drop))
    }

    #[inline]
    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), RingClosed> {
        let this = self.get_mut();
        match this.open()?.push(message) {
            Ok(()) => {
                this.receiver.notify();
                Ok(())
            }
            Err(PushError::Full(_)) => overflow(CAPACITY),
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), RingClosed>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), RingClosed>> {
        self.get_mut().close();
        Poll::Ready(Ok(()))
    }
}

#[cold]
fn overflow(capacity: usize) -> ! {
    panic!(
        "a ring with room for {capacity} messages is full: more can be under way in this direction than its type says; \
         make the ring larger, or use a `Channel`"
    )
}

impl<M, const CAPACITY: usize> Stream for RingReceiver<M, CAPACITY> {
    type Item = M;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<M>> {
        let Self { consumer, waker } = self.get_mut();
        if let Ok(message) = consumer.pop() {
            return Poll::Ready(Some(message));
        }
        waker.register(context.waker());
        // What was sent or closed before the registration notified nobody: look again. Whether the
        // sender is gone comes before the second look at the messages, since it may have sent some
        // before it went.
        let closed = consumer.is_abandoned();
        match consumer.pop() {
            Ok(message) => {
                waker.unregister();
                Poll::Ready(Some(message))
            }
            Err(_) if closed => Poll::Ready(None),
            Err(_) => Poll::Pending,
        }
    }
}

impl<M, const CAPACITY: usize> fmt::Debug for RingSender<M, CAPACITY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingSender")
            .field("capacity", &CAPACITY)
            .field("closed", &self.producer.is_none())
            .finish()
    }
}

impl<M, const CAPACITY: usize> fmt::Debug for RingReceiver<M, CAPACITY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingReceiver")
            .field("capacity", &CAPACITY)
            .field("waiting", &self.consumer.slots())
            .finish()
    }
}
