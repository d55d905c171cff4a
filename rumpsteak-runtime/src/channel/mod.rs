//! Channels: queues in memory, from one role to another, of the size that the build script proved.
//!
//! Each direction of a route has one sender and one receiver. So its messages go through rings: a
//! fixed piece of memory that one side writes and the other reads, without a lock and without an
//! allocation per message ([`ring`], which has the only `unsafe` code of all this). A [`Capacity`]
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
//! visible first and wakes the other side afterwards. Who waits leaves its waker first, and waits only if nothing
//! has changed since. [`parking`] has the argument, `models` lets loom try every interleaving of it.

mod parking;
mod ring;

#[cfg(all(test, rumpsteak_loom))]
mod models;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll};

use futures::{Sink, Stream};

use self::parking::{Cloakroom, Parker, Parking, Unparker};
use self::ring::{Consumer, Nothing, PARKED, Producer, ring};
use crate::join;
use crate::route::{Bidirectional, Nil, Pair};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex};

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

/// How often a receiver parks at once after it was polled in vain.
const PARKS: u8 = 15;

/// What both ends of a queue know.
struct Shared<M> {
    queue: Queue,
    /// For the receiver of an empty queue, which parks in its ring.
    receiver: Cloakroom,
    /// For the sender of a full queue that waits.
    sender: Parking,
    receiver_is_gone: AtomicBool,
    /// The rings of a growable queue that the receiver has not yet come to, first to last. A ring ends when there is
    /// one more in here, or when the sender is gone.
    next: Mutex<VecDeque<Consumer<M>>>,
}

/// The sending half of a queue.
///
/// As a [`Sink`] it is ready unless the queue is one that [waits](Capacity::Waits) and is full. It
/// closes when it is dropped; the receiver still gets what was sent before.
pub struct QueueSender<M> {
    /// Of the ring into which messages go now. It has ended once this half is closed.
    producer: Producer<M>,
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
    patience: Patience,
}

/// Whether a receiver in a [`join`](crate::join()) asks to be polled once more before it parks.
///
/// In one task, whoever sends the message is polled before the receiver's next turn, mostly. Then asking for a turn, which only sets a
/// bit, is cheaper than to park and be woken, which takes a step on the queue's word that other cores must agree on. Where
/// the turn comes too soon, it was in vain, so the receiver parks and does not ask again for a while.
#[derive(Debug)]
struct Patience {
    /// What was seen when the receiver last asked: had the same been seen again, it would have been in vain.
    asked: Option<Nothing>,
    /// How often to park without asking.
    parks: u8,
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
        receiver: Cloakroom::new(),
        sender: Parking::new(),
        receiver_is_gone: AtomicBool::new(false),
        next: Mutex::new(VecDeque::new()),
    });
    let sender = QueueSender {
        producer,
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
        patience: Patience {
            asked: None,
            parks: 0,
        },
    };
    (sender, receiver)
}

impl Patience {
    /// Whether to ask for another turn. It never asks twice for one message.
    #[inline]
    fn asks(&mut self, nothing: Nothing) -> bool {
        if self.parks > 0 {
            self.parks -= 1;
        } else if self.asked.is_some_and(|asked| asked.is_same(nothing)) {
            self.parks = PARKS;
        } else {
            self.asked = Some(nothing);
            return true;
        }
        false
    }
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
    /// The rings to come. No user's code runs while they are locked.
    fn next(&self) -> impl std::ops::DerefMut<Target = VecDeque<Consumer<M>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
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
        let is_refused = self.producer.has_ended()
            || self.receiver_is_gone()
            || self.waits && !self.producer.has_room();
        if is_refused {
            return Err(message);
        }
        let _ = self.put(message);
        Ok(())
    }

    #[inline]
    fn receiver_is_gone(&self) -> bool {
        self.shared.receiver_is_gone.load(Ordering::Acquire)
    }

    /// Puts a message into a queue that is ready for it.
    #[inline]
    fn put(&mut self, message: M) -> Result<(), Disconnected> {
        match self.producer.push(message) {
            Ok(flags) => {
                if flags != 0 {
                    self.shared.receiver.wake(&mut self.receiver, flags);
                }
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

    /// Ends the ring, whose receiver then looks for the next. Nothing may be put into it any more.
    fn end_ring(&mut self) {
        let flags = self.producer.end();
        if flags != 0 {
            self.shared.receiver.wake(&mut self.receiver, flags);
        }
    }

    /// What is not the rule: no room in the ring, or nobody who receives.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, context: &Context<'_>) -> Poll<Result<(), Disconnected>> {
        if self.producer.has_ended() || self.receiver_is_gone() {
            return Poll::Ready(Err(Disconnected));
        }
        if !self.waits || self.producer.has_room() {
            return Poll::Ready(Ok(()));
        }
        self.shared.sender.park(&mut self.own, context.waker());
        if self.receiver_is_gone() {
            Poll::Ready(Err(Disconnected))
        } else if self.producer.has_room() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    /// Takes a message that the ring has no room for.
    #[cold]
    #[inline(never)]
    fn overflow(&mut self, message: M) -> Result<(), Disconnected> {
        if self.producer.has_ended() {
            return Err(Disconnected);
        }
        let Queue { from, to, capacity } = self.shared.queue;
        match capacity {
            Capacity::Growable => {
                let (mut producer, consumer) = ring(self.producer.capacity().saturating_mul(2));
                // The new ring is empty, has room for at least twice `FIRST`, and nobody waits at it.
                assert!(producer.push(message).is_ok(), "a new ring has room");
                self.shared.next().push_back(consumer);
                self.end_ring();
                self.producer = producer;
                Ok(())
            }
            Capacity::AtMost(most) => {
                panic!(
                    "{} is full: its capacity is {most}, and it was proven that its sessions never have more messages \
                     under way; those that were put into the route by hand, past a session, count too",
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
        if this.receiver_is_gone() || !this.producer.has_room() {
            this.wait(context)
        } else {
            Poll::Ready(Ok(()))
        }
    }

    /// # Panics
    ///
    /// If the queue is full, and not [growable](Capacity::Growable).
    #[inline]
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

impl<M> QueueReceiver<M> {
    /// What is known about the queue.
    #[must_use]
    pub fn queue(&self) -> Queue {
        self.shared.queue
    }

    /// The next message, if there is one at the moment.
    pub fn try_receive(&mut self) -> Option<M> {
        loop {
            match self.take() {
                Ok(message) => return Some(message),
                Err(nothing) if nothing.is_final() && self.go_on() => {}
                Err(_) => return None,
            }
        }
    }

    #[inline]
    fn take(&mut self) -> Result<M, Nothing> {
        let message = self.consumer.pop()?;
        if self.sender_waits {
            self.shared.sender.unpark(&mut self.sender);
        }
        Ok(message)
    }

    /// Waits for a message, whatever happens meanwhile.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, context: &Context<'_>) -> Poll<Option<M>> {
        loop {
            let nothing = match self.take() {
                Ok(message) => return Poll::Ready(Some(message)),
                Err(nothing) => nothing,
            };
            if nothing.is_final() {
                if !self.go_on() {
                    return Poll::Ready(None);
                }
                continue;
            }
            let park = |flags| self.consumer.park(nothing, flags);
            if self
                .shared
                .receiver
                .park(&mut self.own, context.waker(), park)
            {
                return Poll::Pending;
            }
        }
    }

    /// Leaves a ring that has ended for the one that follows it, if the queue has grown.
    fn go_on(&mut self) -> bool {
        let next = self.shared.next().pop_front();
        match next {
            Some(next) => {
                self.consumer = next;
                true
            }
            None => false,
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
        while self.try_receive().is_some() {}
    }
}

impl<M> Stream for QueueReceiver<M> {
    type Item = M;

    #[inline(always)]
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<M>> {
        let this = self.get_mut();
        let nothing = match this.take() {
            Ok(message) => return Poll::Ready(Some(message)),
            Err(nothing) => nothing,
        };
        if nothing.is_final() {
            return this.wait(context);
        }
        if join::is_polling() && this.patience.asks(nothing) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        // The rule: nobody writes in between, and the sender has the waker from last time.
        if this.own.is_known(context.waker()) && this.consumer.park(nothing, PARKED) {
            return Poll::Pending;
        }
        this.wait(context)
    }
}

impl<M> fmt::Debug for QueueSender<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueSender")
            .field("queue", &self.shared.queue)
            .field("closed", &self.producer.has_ended())
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
