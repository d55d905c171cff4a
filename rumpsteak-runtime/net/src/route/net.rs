//! `Net`: the route whose other end is in this process or in another one.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker, ready};

use atomic_waker::AtomicWaker;
use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use rumpsteak_runtime::channel::{Capacity, Disconnected, Queue, QueueReceiver, QueueSender};
use rumpsteak_runtime::error::BoxError;
use rumpsteak_runtime::private::ByMacro;
use rumpsteak_runtime::transport::{Bidirectional, Half, Left, Pair};

use crate::error::NetError;
use crate::wire::frame::Messages;
use crate::wire::handshake::Numbers;

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

/// The state that a role and the task of a connection share beside messages.
#[derive(Default)]
pub(crate) struct RouteStatus {
    /// The error of the connection.
    failed: OnceLock<NetError>,
    /// How many messages the role has received: it tells so now and then.
    received: AtomicU64,
    lane: AtomicWaker,
}

pub(crate) type SharedStatus = Arc<RouteStatus>;

impl RouteStatus {
    /// Tells the role an error, unless it knows an earlier one.
    pub(crate) fn fail(&self, error: NetError) {
        let _ = self.failed.set(error);
    }

    /// Fails if the connection has.
    pub(crate) fn check(&self) -> Result<(), NetError> {
        self.failed.get().cloned().map_or(Ok(()), Err)
    }

    /// The error of a process that finds the other end of a queue gone.
    fn reason(&self) -> BoxError {
        self.check().map_or_else(Into::into, |()| Disconnected.into())
    }

    /// How many messages the role has told that it has received. Wakes the task when it tells more.
    pub(crate) fn received(&self, context: &Context<'_>) -> u64 {
        self.lane.register(context.waker());
        self.received.load(Ordering::Acquire)
    }
}

/// The sending half of a [`Net`].
pub struct Outbox<M> {
    queue: QueueSender<M>,
    pub(crate) status: SharedStatus,
}

/// The receiving half of a [`Net`].
pub struct Inbox<M> {
    source: Source<M>,
    status: SharedStatus,
    /// After how many messages it tells how many it has received.
    every: u64,
    /// How many it has not told yet.
    untold: u64,
    /// True if the peer is a program that knows nothing of sessions.
    is_foreign: bool,
}

/// Where a role receives from.
enum Source<M> {
    Messages(QueueReceiver<M>),
    Frames(Box<Frames<M>>),
}

/// What has come over a connection. The role itself makes messages of the bytes, one at a time: if
/// the task of the connection did, as many would be in memory as have come at once, and on another
/// core perhaps.
struct Frames<M> {
    queue: QueueReceiver<Arrived>,
    current: Option<Arrived>,
    /// A message that was looked at.
    held: Option<Result<M, NetError>>,
    read: Read<M>,
}

/// Messages that have come, with what the labels of the peer are called here.
pub(crate) struct Arrived {
    pub(crate) messages: Messages,
    pub(crate) numbers: Option<Arc<Numbers>>,
}

impl Arrived {
    /// The messages of a frame that was made here, whose labels are known.
    pub(crate) fn read(frame: Bytes) -> Option<Self> {
        Messages::read(frame).map(|messages| Self { messages, numbers: None })
    }
}

/// How bytes become a message.
pub(crate) type Read<M> = Box<dyn Fn(&[u8], Option<&Numbers>) -> Result<M, NetError> + Send + Sync>;

/// The end of a [`Net`] that the task of its connection has.
pub(crate) type FarEnd<M> = (Incoming<M>, QueueReceiver<M>);

/// Where a role receives from, as the task of its connection has it.
pub(crate) enum Incoming<M> {
    /// The role is wired with a peer that has left its host.
    Messages(QueueSender<M>, Read<M>),
    Frames(QueueSender<Arrived>),
}

impl<M> Incoming<M> {
    /// The number of sessions that the role has completed here.
    pub(crate) fn completed(&self) -> usize {
        match self {
            Self::Messages(queue, _) => queue.completed(),
            Self::Frames(queue) => queue.completed(),
        }
    }
}

impl<M> Frames<M> {
    #[inline]
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<M, NetError>>> {
        if let Some(held) = self.held.take() {
            return Poll::Ready(Some(held));
        }
        loop {
            if let Some(Arrived { messages, numbers }) = &mut self.current
                && let Some(bytes) = messages.next()
            {
                return Poll::Ready(Some((self.read)(bytes, numbers.as_deref())));
            }
            // What it is made of can be used again.
            self.current = None;
            match ready!(Pin::new(&mut self.queue).poll_next(context)) {
                None => return Poll::Ready(None),
                arrived => self.current = arrived,
            }
        }
    }
}

impl<M> Source<M> {
    #[inline]
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<M, NetError>>> {
        match self {
            Self::Messages(queue) => Pin::new(queue).poll_next(context).map(|next| next.map(Ok)),
            Self::Frames(frames) => frames.poll_next(context),
        }
    }

    fn left_after(&self) -> usize {
        match self {
            Self::Messages(queue) => queue.left_after(),
            Self::Frames(frames) => frames.queue.left_after(),
        }
    }
}

/// Both ends of a route within a host, which learn why it fails when one of them has gone to
/// another host.
pub(crate) fn wired<M: 'static>(sent: Queue, received: Queue) -> [(Net<M>, SharedStatus); 2] {
    let status = SharedStatus::default();
    let (out, far_in): (QueueSender<M>, QueueReceiver<M>) = Pair::pair_as(sent, received);
    let (far_out, inbox): (QueueSender<M>, QueueReceiver<M>) = Pair::pair_as(received, sent);
    [(out, inbox), (far_out, far_in)].map(|(out, inbox)| {
        let outbox = Outbox { queue: out, status: Arc::clone(&status) };
        let window = window(inbox.queue().capacity);
        let inbox = Inbox::new(Source::Messages(inbox), Arc::clone(&status), window);
        (route(outbox, inbox), Arc::clone(&status))
    })
}

/// How many messages may be under way where nothing was proven about the queue: so many that an end
/// goes on while the other one has to wait for a core.
pub(crate) const WINDOW: usize = 8192;

/// How many messages may be under way in a queue, by what was proven about it.
pub(crate) fn window(capacity: Capacity) -> usize {
    match capacity {
        Capacity::AtMost(most) | Capacity::Waits(most) => most,
        // What is not received yet stays with the peer, whose queue grows.
        _ => WINDOW,
    }
}

/// After how many messages an end with this window tells how many it has received: a task that is
/// woken for each, and a frame for each, cost more than messages.
pub(crate) fn every(window: usize) -> u64 {
    window.clamp(32, WINDOW / 4) as u64
}

/// A route with a queue of this capacity from it and with this window towards it, and its other end
/// for the task of a connection. The queue towards it grows: the task grants what goes into it.
pub(crate) fn net<M: 'static>(
    sent: Queue,
    window: usize,
    status: SharedStatus,
    read: Read<M>,
) -> (Net<M>, FarEnd<M>) {
    let (far_out, queue) = pair(Queue::default());
    let frames = Frames { queue, current: None, held: None, read };
    let (queue, far_in) = pair(sent);
    let outbox = Outbox { queue, status: Arc::clone(&status) };
    let inbox = Inbox::new(Source::Frames(Box::new(frames)), status, window);
    (route(outbox, inbox), (Incoming::Frames(far_out), far_in))
}

/// The same, for a task that has messages, and a peer that knows nothing of sessions.
pub(crate) fn net_of_messages<M: 'static>(
    status: SharedStatus,
) -> (Net<M>, (QueueSender<M>, QueueReceiver<M>)) {
    let (far_out, queue) = pair(Queue::default());
    let (near_out, mut far_in) = pair(Queue::default());
    let outbox = Outbox { queue: near_out, status: Arc::clone(&status) };
    // No word of it ever comes.
    far_in.complete(usize::MAX);
    let inbox = Inbox::new(Source::Messages(queue), status, WINDOW);
    (route(outbox, Inbox { is_foreign: true, ..inbox }), (far_out, far_in))
}

fn pair<M>(queue: Queue) -> (QueueSender<M>, QueueReceiver<M>) {
    Pair::pair_as(queue, Queue::default())
}

fn route<M: 'static>(outbox: Outbox<M>, inbox: Inbox<M>) -> Net<M> {
    Net::of_halves(Some((outbox, inbox)), || (Outbox::HALF, Inbox::HALF), ByMacro(()))
}

impl<M> Outbox<M> {
    const HALF: Half<Self> = Half {
        poll_begin: |outbox, session, waker| outbox.queue.poll_begin(session, waker),
        ..Half::PLAIN
    };
}

/// The queues of a route within a host.
pub(crate) fn queues<M>(
    (outbox, inbox): (Outbox<M>, Inbox<M>),
) -> Option<(QueueSender<M>, QueueReceiver<M>)> {
    match inbox.source {
        Source::Messages(queue) => Some((outbox.queue, queue)),
        Source::Frames(_) => None,
    }
}

impl<M: 'static> Inbox<M> {
    const HALF: Half<Self> = Half {
        look: Some(Self::poll_wanted),
        complete: Self::complete,
        keeps_sessions_apart: |inbox| !inbox.is_foreign,
        ..Half::PLAIN
    };
}

impl<M> Inbox<M> {
    fn new(source: Source<M>, status: SharedStatus, window: usize) -> Self {
        Self { source, status, every: every(window), untold: 0, is_foreign: false }
    }

    /// The inbox of a peer in the same process, which needs no word of what is received.
    fn local(queue: QueueReceiver<M>, status: SharedStatus) -> Self {
        Self { every: u64::MAX, ..Self::new(Source::Messages(queue), status, WINDOW) }
    }

    /// Says that the role has completed so many sessions.
    fn complete(&mut self, sessions: usize) {
        match &mut self.source {
            Source::Messages(queue) => queue.complete(sessions),
            Source::Frames(frames) => frames.queue.complete(sessions),
        }
        self.status.lane.wake();
    }

    /// Whether the next message is wanted: a [`Look`]. So is what cannot be read.
    fn poll_wanted(
        &mut self,
        is_wanted: &dyn Fn(&dyn Any) -> bool,
        context: &Context<'_>,
    ) -> Poll<bool>
    where
        M: 'static,
    {
        let queue = match &mut self.source {
            Source::Messages(queue) => queue,
            Source::Frames(frames) => {
                frames.held = ready!(frames.poll_next(&mut Context::from_waker(context.waker())));
                let held = frames.held.as_ref();
                return Poll::Ready(
                    held.is_none_or(|held| held.as_ref().map_or(true, |it| is_wanted(it))),
                );
            }
        };
        // So is the end.
        let found = Cell::new(true);
        let look = |message: &M| {
            found.set(is_wanted(message));
            false
        };
        queue.poll_if(true, look, context).map(|_| found.get())
    }

    /// Counts a message that was received.
    #[inline]
    fn count(&mut self) {
        self.untold += 1;
        if self.untold >= self.every {
            self.status.received.fetch_add(self.untold, Ordering::Release);
            self.untold = 0;
            self.status.lane.wake();
        }
    }

    /// What has come and was not received, when nothing comes any more; and after how many sessions
    /// the peer has left, if it has. Fails if it cannot be read.
    pub(crate) fn into_unread(self) -> Result<(Vec<M>, usize), NetError> {
        let mut context = Context::from_waker(Waker::noop());
        let mut source = self.source;
        let unread = std::iter::from_fn(|| match source.poll_next(&mut context) {
            Poll::Ready(message) => message,
            Poll::Pending => None,
        });
        Ok((unread.collect::<Result<_, _>>()?, source.left_after()))
    }
}

impl<M> Sink<M> for Outbox<M> {
    type Error = BoxError;

    #[inline]
    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let this = self.get_mut();
        let ready = ready!(Pin::new(&mut this.queue).poll_ready(context));
        Poll::Ready(ready.map_err(|_| this.status.reason()))
    }

    #[inline]
    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), BoxError> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.queue).start_send(message);
        sent.map_err(|_| this.status.reason())
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
        Poll::Ready(match ready!(this.source.poll_next(context)) {
            Some(Ok(message)) => {
                this.count();
                Some(Ok(message))
            }
            Some(Err(error)) => {
                this.status.fail(error.clone());
                Some(Err(error.into()))
            }
            None => match (this.status.check(), this.source.left_after()) {
                (Err(error), _) => Some(Err(error.into())),
                (Ok(()), 0) => None,
                (Ok(()), sessions) => Some(Err(Left(sessions).into())),
            },
        })
    }
}

impl<M: 'static> Pair<Inbox<M>> for Outbox<M> {
    fn pair() -> (Self, Inbox<M>) {
        Self::pair_as(Queue::default(), Queue::default())
    }

    fn pair_as(sent: Queue, received: Queue) -> (Self, Inbox<M>) {
        let (queue, receiver) = Pair::pair_as(sent, received);
        let status = SharedStatus::default();
        (Self { queue, status: Arc::clone(&status) }, Inbox::local(receiver, status))
    }

    const HALVES: (Half<Self>, Half<Inbox<M>>) = (Outbox::HALF, Inbox::HALF);
}

impl<M: 'static> Pair<Outbox<M>> for Inbox<M> {
    fn pair() -> (Self, Outbox<M>) {
        Self::pair_as(Queue::default(), Queue::default())
    }

    fn pair_as(sent: Queue, received: Queue) -> (Self, Outbox<M>) {
        let (outbox, inbox) = Outbox::pair_as(received, sent);
        (inbox, outbox)
    }

    const HALVES: (Half<Self>, Half<Outbox<M>>) = (Inbox::HALF, Outbox::HALF);
}

impl<M> fmt::Debug for Outbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outbox").field(&self.queue).finish()
    }
}

impl<M> fmt::Debug for Inbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Messages(queue) => f.debug_tuple("Inbox").field(queue).finish(),
            Source::Frames(frames) => f.debug_tuple("Inbox").field(&frames.queue).finish(),
        }
    }
}
