//! Queues by capacity, and routes over queues.

use super::parking::{ReceiverState, SenderState};
use super::receiver::QueueReceiver;
use super::ring::ring;
use super::sender::QueueSender;
use super::shared::Shared;
use crate::transport::capacity::{Capacity, KnownRoom, Queue};
use crate::transport::{Bidirectional, Nil, Pair};

/// A route over two queues in memory, one in each direction.
///
/// A set of roles gives its queues the capacities that the build script proved: see
/// [`guide::channels`](crate::guide::channels). For roles that are built by hand,
/// [`pair`](Pair::pair) makes growable queues, and
/// [`with_capacities`](Bidirectional::with_capacities) queues of any capacity.
pub type Channel<M> = Bidirectional<QueueSender<M>, QueueReceiver<M>>;

/// A route over a queue in memory that only sends. The other end is a [`Receiver`].
pub type Sender<M> = Bidirectional<QueueSender<M>, Nil>;

/// A route over a queue in memory that only receives. The other end is a [`Sender`].
pub type Receiver<M> = Bidirectional<Nil, QueueReceiver<M>>;

impl<M> Channel<M> {
    /// Makes both ends of a route for roles that are built by hand. The first end sends into a
    /// queue of capacity `sent` and receives from one of capacity `received`.
    ///
    /// With [`Capacity::Waits`], make sure that senders do not wait for each other in a circle.
    ///
    /// ```
    /// # use rumpsteak_doctests::rumpsteak;
    /// use futures::{FutureExt, SinkExt, StreamExt, executor::block_on};
    /// use rumpsteak::channel::{Capacity, Channel};
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
    /// Allocates once per direction, or twice if the queue has room for more than 256 bytes.
    pub fn with_capacities(sent: Capacity, received: Capacity) -> (Self, Self) {
        Pair::pair_as(Queue::new(sent), Queue::new(received))
    }
}

impl<M> Pair<QueueReceiver<M>> for QueueSender<M> {
    fn pair_as(sent: Queue, _: Queue) -> (Self, QueueReceiver<M>) {
        queue(sent)
    }
}

impl<M> Pair<QueueSender<M>> for QueueReceiver<M> {
    fn pair_as(_: Queue, received: Queue) -> (Self, QueueSender<M>) {
        let (sender, receiver) = queue(received);
        (receiver, sender)
    }
}

#[diagnostic::do_not_recommend]
impl<M, P> KnownRoom<P> for QueueSender<M> {}

pub(super) fn queue<M>(queue: Queue) -> (QueueSender<M>, QueueReceiver<M>) {
    let (size, waits) = match queue.capacity {
        Capacity::AtMost(most) => (most, false),
        Capacity::Growable => (FIRST_RING, false),
        Capacity::Waits(room) => (room, true),
    };
    let sender = || SenderState { waits, ..SenderState::default() };
    let receiver = || ReceiverState { sender_waits: waits, ..ReceiverState::default() };
    let (producer, consumer) = ring(size, || Shared::new(queue, 0), sender, receiver);
    (QueueSender { producer }, QueueReceiver { consumer })
}

/// The size of the first ring of a growable queue; 1 in the models, so that queues grow.
const FIRST_RING: usize = if cfg!(all(test, rumpsteak_loom)) { 1 } else { 8 };
