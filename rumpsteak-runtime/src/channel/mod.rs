//! Channels: queues in memory, from one role to another, of the size that the build script proved.
//!
//! Each direction of a route has one sender and one receiver. So its messages go through rings: a
//! fixed piece of memory that one side writes and the other reads, without a lock and without an
//! allocation per message (`rtrb`, which has the only `unsafe` code of all this). A [`Capacity`]
//! says how large the ring is, and what happens when it is full:
//!
//! | capacity | a sender at a full ring | where it comes from |
//! |---|---|---|
//! | [`AtMost`](Capacity::AtMost) | panics: it was proven that this never happens | the sessions never have more messages under way |
//! | [`Waits`](Capacity::Waits) | waits for the receiver | there may be any number under way, but it was proven that waiting cannot deadlock |
//! | [`Growable`](Capacity::Growable) | goes on in a new ring of twice the size | nothing was proven |
//!
//! The receiver goes on to the new ring once it has emptied the old one. So a growable queue is
//! first in first out too, and costs what a ring costs once it is as large as it gets.
//!
//! # The order of things
//!
//! Who makes a change (a message in the ring, room in it, a new ring, an end that is gone) makes it
//! visible first and wakes the other side afterwards. Who waits leaves its waker first and looks
//! again afterwards. [`parking`] has the argument, `models` lets loom try every interleaving of it.

mod parking;
mod sync;

#[cfg(all(test, rumpsteak_loom))]
mod models;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll};

use futures::{Sink, Stream};
use rtrb::PushError;

use self::parking::{Parker, Parking, Unparker};
use self::sync::atomic::{AtomicBool, Ordering};
use self::sync::{Arc, Consumer, Mutex, Producer, ring};
use crate::route::{Bidirectional, Nil, Pair};

/// A route over queues in memory, one in each direction: the default.
///
/// Their capacities are those that the build script proved for the sessions of the roles at both
/// ends, as [`guide::channels`](crate::guide::channels) tells. `Channel::<M>::pair()` makes both
/// ends of a route that grows, [`with_capacities`](Bidirectional::with_capacities) of any other.
pub type Channel<M> = Bidirectional<QueueSender<M>, QueueReceiver<M>>;

/// A route over a queue in memory that only sends. Its other end is a [`Receiver`].
pub type Sender<M> = Bidirectional<QueueSender<M>, Nil>;

/// A route over a queue in memory that only receives. Its other end is a [`Sender`].
pub type Receiver<M> = Bidirectional<Nil, QueueReceiver<M>>;

/// How many messages a queue has room for, and what a sender does that finds it full.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Capacity {
    /// Room for so many, and there are never more: a sender never waits. One that finds the queue
    /// full panics, which poisons its role.
    AtMost(usize),
    /// Room for as many as there are: a sender never waits, and memory is what limits it.
    #[default]
    Growable,
    /// Room for so many: a sender waits while the queue is full. With room for none it waits for
    /// ever.
    Waits(usize),
}

/// One direction of a route.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Queue {
    /// The name in the protocol of the role that sends. For messages to people; may be empty.
    pub from: &'static str,
    /// The name in the protocol of the role that receives.
    pub to: &'static str,
    /// How many messages it has room for.
    pub capacity: Capacity,
}

impl<M> Channel<M> {
    /// Both ends of a route whose first end sends into a queue with the one capacity and receives
    /// from a queue with the other.
    ///
    /// `#[derive(Roles)]` takes the capacities that the build script proved. Use this where roles
    /// are built by hand, or to hold senders back whom no proof covers: then it is on you that they
    /// do not wait for each other in a circle.
    ///
    /// ```
    /// use futures::{FutureExt, SinkExt, StreamExt, executor::block_on};
    /// use rumpsteak_runtime::{Capacity, Channel};
    ///
    /// let (near, far) = Channel::with_capacities(Capacity::Waits(1), Capacity::Growable);
    /// let ((mut tx, _), (_, mut rx)) = near.into_inner().zip(far.into_inner()).unwrap();
    /// block_on(async {
    ///     tx.send('a').await?;
    ///     assert!(tx.send('b').now_or_never().is_none());
    ///     assert_eq!(rx.next().await, Some('a'));
    ///     tx.send('b').await
    /// })
    /// # .unwrap();
    /// ```
    ///
    /// Costs three allocations for each direction, one of them for the messages.
    #[must_use]
    pub fn with_capacities(sent: Capacity, received: Capacity) -> (Self, Self) {
        let unnamed = |capacity| Queue {
            capacity,
            ..Queue::default()
        };
        Pair::pair_as(unnamed(sent), unnamed(received))
    }
}

/// How large the first ring of a growable queue is. In the models, a queue is to grow soon.
const FIRST: usize = if cfg!(all(test, rumpsteak_loom)) {
    1
} else {
    8
};

/// What both ends of a queue know.
struct Shared<M> {
    queue: Queue,
    /// For the receiver of an empty queue.
    receiver: Parking,
    /// For the sender of a full queue that waits.
    sender: Parking,
    receiver_is_gone: AtomicBool,
    sender_is_gone: AtomicBool,
    /// Whether `next` holds something. Changed under its lock.
    has_grown: AtomicBool,
    /// The rings of a growable queue that the receiver has not yet come to, first to last.
    next: Mutex<VecDeque<Consumer<M>>>,
}

/// The sending half of a queue.
///
/// As a [`Sink`] it is ready unless the queue is one that [waits](Capacity::Waits) and is full. It
/// closes when it is dropped; the receiver still gets what was sent before.
pub struct QueueSender<M> {
    /// `None` once closed.
    producer: Option<Producer<M>>,
    waits: bool,
    shared: Arc<Shared<M>>,
    receiver: Unparker,
    own: Parker,
}

/// The receiving half of a queue.
///
/// As a [`Stream`] it ends when the sender is gone and the queue is empty. Dropping it drops the
/// messages in the queue, and every further send fails with [`Disconnected`].
pub struct QueueReceiver<M> {
    consumer: Consumer<M>,
    /// Whether the sender may wait.
    sender_waits: bool,
    shared: Arc<Shared<M>>,
    sender: Unparker,
    own: Parker,
}

/// The receiver of a queue is gone, or the sender was closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Disconnected;

impl fmt::Display for Disconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other end of the queue is gone")
    }
}

impl std::error::Error for Disconnected {}

/// Both halves of a queue.
fn queue<M>(queue: Queue) -> (QueueSender<M>, QueueReceiver<M>) {
    let (size, waits) = match queue.capacity {
        Capacity::AtMost(most) => (most, false),
        Capacity::Growable => (FIRST, false),
        Capacity::Waits(room) => (room, true),
    };
    let (producer, consumer) = ring(size);
    let shared = Arc::new(Shared {
        queue,
        receiver: Parking::new(),
        sender: Parking::new(),
        receiver_is_gone: AtomicBool::new(false),
        sender_is_gone: AtomicBool::new(false),
        has_grown: AtomicBool::new(false),
        next: Mutex::new(VecDeque::new()),
    });
    let sender = QueueSender {
        producer: Some(producer),
        waits,
        shared: Arc::clone(&shared),
        receiver: Unparker::default(),
        own: Parker::default(),
    };
    let receiver = QueueReceiver {
        consumer,
        sender_waits: waits,
        shared,
        sender: Unparker::default(),
        own: Parker::default(),
    };
    (sender, receiver)
}

impl<M> Pair<QueueReceiver<M>> for QueueSender<M> {
    fn pair() -> (Self, QueueReceiver<M>) {
        queue(Queue::default())
    }

    fn pair_as(sent: Queue, _: Queue) -> (Self, QueueReceiver<M>) {
        queue(sent)
    }
}

impl<M> Pair<QueueSender<M>> for QueueReceiver<M> {
    fn pair() -> (Self, QueueSender<M>) {
        Self::pair_as(Queue::default(), Queue::default())
    }

    fn pair_as(_: Queue, received: Queue) -> (Self, QueueSender<M>) {
        let (sender, receiver) = queue(received);
        (receiver, sender)
    }
}

impl<M> Shared<M> {
    /// Runs `change` on the rings to come, and says whether there are any then.
    fn with_next<T>(&self, change: impl FnOnce(&mut VecDeque<Consumer<M>>) -> T) -> T {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let value = change(&mut next);
        self.has_grown.store(!next.is_empty(), Ordering::Release);
        value
    }
}

impl<M> QueueSender<M> {
    /// What is known about the queue.
    #[must_use]
    pub fn queue(&self) -> Queue {
        self.shared.queue
    }

    /// Puts a message into the queue at once.
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone, this half was closed, or the queue is full and its
    /// senders [wait](Capacity::Waits).
    ///
    /// # Panics
    ///
    /// If the queue is full, and it was proven that it [never is](Capacity::AtMost).
    pub fn try_send(&mut self, message: M) -> Result<(), M> {
        let is_refused = match &self.producer {
            Some(producer) => {
                self.shared.receiver_is_gone.load(Ordering::Acquire)
                    || self.waits && producer.is_full()
            }
            None => true,
        };
        if is_refused {
            return Err(message);
        }
        self.put(message);
        Ok(())
    }

    /// Puts a message into a queue that is ready for it. Does nothing if this half was closed.
    #[inline]
    fn put(&mut self, message: M) {
        if let Some(producer) = &mut self.producer {
            if let Err(PushError::Full(message)) = producer.push(message) {
                self.overflow(message);
            }
            self.shared.receiver.unpark(&mut self.receiver);
        }
    }

    fn close(&mut self) {
        if self.producer.take().is_some() {
            self.shared.sender_is_gone.store(true, Ordering::Release);
            self.shared.receiver.unpark(&mut self.receiver);
        }
    }

    /// Waits until there is room in a ring that was full.
    fn wait(&mut self, context: &Context<'_>) -> Poll<Result<(), Disconnected>> {
        self.shared.sender.park(&mut self.own, context.waker());
        if self.shared.receiver_is_gone.load(Ordering::Acquire) {
            return Poll::Ready(Err(Disconnected));
        }
        match &self.producer {
            Some(producer) if producer.is_full() => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Takes a message that the ring has no room for.
    #[cold]
    fn overflow(&mut self, message: M) {
        let Queue { from, to, capacity } = self.shared.queue;
        match (capacity, &mut self.producer) {
            (Capacity::Growable, Some(full)) => {
                let (mut producer, consumer) = ring(full.buffer().capacity().saturating_mul(2));
                // The new ring is empty, and has room for at least twice `FIRST`.
                assert!(producer.push(message).is_ok(), "a new ring has room");
                *full = producer;
                self.shared.with_next(|next| next.push_back(consumer));
            }
            (Capacity::AtMost(most), _) => {
                panic!(
                    "{} is full: its capacity is {most}, and it was proven that its sessions never have more messages \
                     under way; those that were put into the route by hand, past a session, count too",
                    Named(from, to)
                )
            }
            // The contract of `Sink`: no message without `poll_ready` before.
            (Capacity::Waits(_) | Capacity::Growable, _) => {
                panic!(
                    "{} is full, and a message was sent without waiting for room",
                    Named(from, to)
                )
            }
        }
    }
}

/// What a panic calls a queue.
struct Named(&'static str, &'static str);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self("", "") => f.write_str("the channel"),
            Self(from, to) => write!(f, "the channel from `{from}` to `{to}`"),
        }
    }
}

impl<M> Drop for QueueSender<M> {
    fn drop(&mut self) {
        self.close();
    }
}

// Neither half is ever pinned: a message in a field of theirs is only moved.
impl<M> Unpin for QueueSender<M> {}
impl<M> Unpin for QueueReceiver<M> {}

impl<M> Sink<M> for QueueSender<M> {
    type Error = Disconnected;

    #[inline]
    fn poll_ready(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Disconnected>> {
        let this = self.get_mut();
        match &this.producer {
            Some(producer) if !this.shared.receiver_is_gone.load(Ordering::Acquire) => {
                if this.waits && producer.is_full() {
                    this.wait(context)
                } else {
                    Poll::Ready(Ok(()))
                }
            }
            _ => Poll::Ready(Err(Disconnected)),
        }
    }

    /// # Panics
    ///
    /// If the queue is full, and not [growable](Capacity::Growable).
    #[inline]
    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), Disconnected> {
        let this = self.get_mut();
        if this.producer.is_none() {
            return Err(Disconnected);
        }
        this.put(message);
        Ok(())
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

impl<M> QueueReceiver<M> {
    /// What is known about the queue.
    #[must_use]
    pub fn queue(&self) -> Queue {
        self.shared.queue
    }

    /// The next message, if there is one at the moment.
    pub fn try_receive(&mut self) -> Option<M> {
        self.take()
    }

    #[inline]
    fn take(&mut self) -> Option<M> {
        let message = match self.consumer.pop() {
            Ok(message) => message,
            Err(_) if self.shared.has_grown.load(Ordering::Acquire) => self.take_from_next()?,
            Err(_) => return None,
        };
        if self.sender_waits {
            self.shared.sender.unpark(&mut self.sender);
        }
        Some(message)
    }

    /// The next message of a queue that has grown.
    #[cold]
    fn take_from_next(&mut self) -> Option<M> {
        loop {
            // What the sender put into this ring before it left it is visible now.
            if let Ok(message) = self.consumer.pop() {
                return Some(message);
            }
            self.consumer = self.shared.with_next(VecDeque::pop_front)?;
        }
    }
}

impl<M> Drop for QueueReceiver<M> {
    fn drop(&mut self) {
        self.shared.receiver_is_gone.store(true, Ordering::Release);
        if self.sender_waits {
            self.shared.sender.unpark(&mut self.sender);
        }
        // The ring itself lives as long as its sender. The messages need not, save one that is sent
        // at this very moment.
        while self.take().is_some() {}
    }
}

impl<M> Stream for QueueReceiver<M> {
    type Item = M;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<M>> {
        let this = self.get_mut();
        if let Some(message) = this.take() {
            return Poll::Ready(Some(message));
        }
        this.shared.receiver.park(&mut this.own, context.waker());
        // Whether the sender is gone comes before the second look at the messages, since it may have
        // sent some before it went.
        let closed = this.shared.sender_is_gone.load(Ordering::Acquire);
        match this.take() {
            Some(message) => Poll::Ready(Some(message)),
            None if closed => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl<M> fmt::Debug for QueueSender<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueSender")
            .field("queue", &self.shared.queue)
            .field("closed", &self.producer.is_none())
            .finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for QueueReceiver<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueReceiver")
            .field("queue", &self.shared.queue)
            .finish_non_exhaustive()
    }
}
