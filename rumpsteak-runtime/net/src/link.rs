//! Routes that lead to another process, or stay in this one.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker, ready};

use futures_core::Stream;
use futures_sink::Sink;
use rumpsteak_runtime::channel::{Disconnected, Queue, QueueReceiver, QueueSender};
use rumpsteak_runtime::error::BoxError;
use rumpsteak_runtime::transport::{Bidirectional, Pair};

use crate::error::NetError;

/// A route whose other end is in this process or in another one: the role that has it cannot tell,
/// and its process does not change.
///
/// As a [`Channel`](rumpsteak_runtime::Channel) it is two queues in memory, of the capacities that
/// the build script proved. Between processes a task on each side moves messages from its queue to
/// the connection and back.
/// `#[derive(Roles)]` wires such routes in memory; [`Host::join`](crate::Host::join) connects them
/// with wherever the peers are.
///
/// A peer that has left, in good order or not, is
/// [`ErrorKind::Closed`](rumpsteak_runtime::ErrorKind::Closed) as over a `Channel`; one that is
/// lost, or speaks nonsense, is [`ErrorKind::Transport`](rumpsteak_runtime::ErrorKind::Transport)
/// with a [`NetError`].
pub type Net<M> = Bidirectional<Outbox<M>, Inbox<M>>;

/// Why a connection failed, once it has.
pub(crate) type Fate = Arc<OnceLock<NetError>>;

/// The sending half of a [`Net`].
pub struct Outbox<M> {
    queue: QueueSender<M>,
    /// `None` within a process.
    fate: Option<Fate>,
}

/// The receiving half of a [`Net`].
pub struct Inbox<M> {
    queue: QueueReceiver<M>,
    fate: Option<Fate>,
}

/// The end of a [`Net`] that the task of its connection has.
pub(crate) type FarEnd<M> = (QueueSender<M>, QueueReceiver<M>);

/// Both ends of a route within a host, which learn why it fails when one of them has gone to
/// another host.
pub(crate) fn wired<M>(sent: Queue, received: Queue) -> [(Net<M>, Fate); 2] {
    let fate = Fate::default();
    let (out, far_in): (QueueSender<M>, QueueReceiver<M>) = Pair::pair_as(sent, received);
    let (far_out, inbox): (QueueSender<M>, QueueReceiver<M>) = Pair::pair_as(received, sent);
    [(out, inbox), (far_out, far_in)].map(|(out, inbox)| {
        let outbox = Outbox { queue: out, fate: Some(Arc::clone(&fate)) };
        let end = Net::new(outbox, Inbox { queue: inbox, fate: Some(Arc::clone(&fate)) });
        (end, Arc::clone(&fate))
    })
}

/// A route with queues of these capacities, and its other end for the task of a connection. Neither
/// may be one that [never](rumpsteak_runtime::channel::Capacity::AtMost) gets full but the first.
pub(crate) fn net<M>(sent: Queue, received: Queue, fate: Fate) -> (Net<M>, FarEnd<M>) {
    let (out, far_in): (QueueSender<M>, QueueReceiver<M>) = Pair::pair_as(sent, received);
    let (far_out, inbox): (QueueSender<M>, QueueReceiver<M>) = Pair::pair_as(received, sent);
    let outbox = Outbox { queue: out, fate: Some(Arc::clone(&fate)) };
    (Net::new(outbox, Inbox { queue: inbox, fate: Some(fate) }), (far_out, far_in))
}

impl<M> Outbox<M> {
    /// Why its connection fails, once it does; `None` within a process.
    pub(crate) fn fate(&self) -> Option<&Fate> {
        self.fate.as_ref()
    }
}

/// The queues of a route.
pub(crate) fn queues<M>((outbox, inbox): (Outbox<M>, Inbox<M>)) -> FarEnd<M> {
    (outbox.queue, inbox.queue)
}

impl<M> Inbox<M> {
    /// What has come and was not received, when nothing comes any more.
    pub(crate) fn into_unread(self) -> Vec<M> {
        let mut context = Context::from_waker(Waker::noop());
        let mut queue = self.queue;
        std::iter::from_fn(|| match Pin::new(&mut queue).poll_next(&mut context) {
            Poll::Ready(message) => message,
            Poll::Pending => None,
        })
        .collect()
    }
}

/// What a process learns when the other end of a queue is gone.
fn reason(fate: Option<&Fate>) -> BoxError {
    match fate.and_then(|fate| fate.get()) {
        Some(error) => error.clone().into(),
        None => Disconnected.into(),
    }
}

impl<M> Sink<M> for Outbox<M> {
    type Error = BoxError;

    #[inline]
    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let this = self.get_mut();
        let ready = ready!(Pin::new(&mut this.queue).poll_ready(context));
        Poll::Ready(ready.map_err(|_| reason(this.fate.as_ref())))
    }

    #[inline]
    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), BoxError> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.queue).start_send(message);
        sent.map_err(|_| reason(this.fate.as_ref()))
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The task of the connection needs no further poll.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Pin::new(&mut self.get_mut().queue).poll_close(context).map_err(Into::into)
    }
}

impl<M> Stream for Inbox<M> {
    type Item = Result<M, BoxError>;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        Poll::Ready(match ready!(Pin::new(&mut this.queue).poll_next(context)) {
            Some(message) => Some(Ok(message)),
            None => {
                let failed = this.fate.as_ref().is_some_and(|fate| fate.get().is_some());
                failed.then(|| Err(reason(this.fate.as_ref())))
            }
        })
    }
}

impl<M> Pair<Inbox<M>> for Outbox<M> {
    fn pair() -> (Self, Inbox<M>) {
        Self::pair_as(Queue::default(), Queue::default())
    }

    fn pair_as(sent: Queue, received: Queue) -> (Self, Inbox<M>) {
        let (sender, receiver) = Pair::pair_as(sent, received);
        (Self { queue: sender, fate: None }, Inbox { queue: receiver, fate: None })
    }
}

impl<M> Pair<Outbox<M>> for Inbox<M> {
    fn pair() -> (Self, Outbox<M>) {
        Self::pair_as(Queue::default(), Queue::default())
    }

    fn pair_as(sent: Queue, received: Queue) -> (Self, Outbox<M>) {
        let (receiver, sender) = Pair::pair_as(sent, received);
        (Self { queue: receiver, fate: None }, Outbox { queue: sender, fate: None })
    }
}

impl<M> fmt::Debug for Outbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outbox").field(&self.queue).finish()
    }
}

impl<M> fmt::Debug for Inbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inbox").field(&self.queue).finish()
    }
}
