//! `Net`: the route whose other end is in this process or in another one.

use std::any::Any;
use std::cell::Cell;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use atomic_waker::AtomicWaker;
use futures_core::Stream;
use futures_sink::Sink;
use rumpsteak_runtime::channel::{Capacity, Disconnected, Queue, QueueReceiver, QueueSender};
use rumpsteak_runtime::error::BoxError;
use rumpsteak_runtime::private::ByMacro;
use rumpsteak_runtime::transport::{Bidirectional, Half, KnownRoom, Left, Pair};

use crate::transport::Connection;
use crate::wire::{Messages, Numbers};
use crate::{Address, NetError};

/// A route whose other end is in this process or in another one. The role that has it cannot tell,
/// and its process does not change.
///
/// Like a [`Channel`](rumpsteak_runtime::Channel), it is two queues in memory, with the capacities
/// that the build script proved. Between processes a task on each side moves messages between the
/// queues and the connection. A set of roles wires such routes in memory;
/// [`Host::join`](crate::Host::join) connects them with peers anywhere.
///
/// If the peer has left, the error is [`ErrorKind::Closed`](rumpsteak_runtime::ErrorKind::Closed),
/// as over a `Channel`. If the peer is lost or violates the protocol, the error is
/// [`ErrorKind::Transport`](rumpsteak_runtime::ErrorKind::Transport) with a [`NetError`].
pub type Net<M> = Bidirectional<Outbox<M>, Inbox<M>>;

/// The state that a role and the task of its lane share.
#[derive(Debug, Default)]
pub(crate) struct RouteStatus {
    failed: OnceLock<NetError>,
    /// The number of messages that the role has received, as it reports now and then.
    received: AtomicU64,
    lane: AtomicWaker,
    /// The address of the peer, and the time of the last frame from it, once there is a connection.
    connection: Mutex<Option<(String, Instant)>>,
}

pub(crate) type SharedStatus = Arc<RouteStatus>;

impl RouteStatus {
    /// Sets the error that the role gets, unless there is an earlier one.
    pub(crate) fn fail(&self, error: NetError) {
        let _ = self.failed.set(error);
    }

    pub(crate) fn check(&self) -> Result<(), NetError> {
        self.failed.get().cloned().map_or(Ok(()), Err)
    }

    /// The role has a connection with its peer.
    pub(crate) fn connected(&self, Connection { at, caller, .. }: &Connection) {
        let address = at.as_ref().map(Address::to_string);
        let address = address.or_else(|| caller.map(|address| address.to_string()));
        let address = address.unwrap_or_else(|| "an unknown address".to_owned());
        *self.connection() = Some((address, Instant::now()));
    }

    /// A frame has come from the peer.
    pub(crate) fn heard(&self) {
        if let Some((_, last)) = &mut *self.connection() {
            *last = Instant::now();
        }
    }

    /// Describes the connection, for the report of a watch.
    pub(crate) fn describe(&self) -> String {
        match &*self.connection() {
            Some((address, last)) => {
                format!("at {address}, the connection is silent for {:.1?}", last.elapsed())
            }
            None => "no connection yet".to_owned(),
        }
    }

    fn connection(&self) -> MutexGuard<'_, Option<(String, Instant)>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error of a process that finds the other end of a queue gone.
    fn reason(&self) -> BoxError {
        self.check().map_or_else(Into::into, |()| Disconnected.into())
    }

    /// The number of messages that the role has reported as received. Wakes the task at a report.
    pub(crate) fn received(&self, context: &Context<'_>) -> u64 {
        self.lane.register(context.waker());
        self.received.load(Ordering::Acquire)
    }
}

/// The sending half of a [`Net`].
#[derive(Debug)]
pub struct Outbox<M> {
    queue: QueueSender<M>,
    pub(crate) status: SharedStatus,
}

#[diagnostic::do_not_recommend]
impl<M, P> KnownRoom<P> for Outbox<M> {}

/// The receiving half of a [`Net`].
pub struct Inbox<M> {
    source: Source<M>,
    status: SharedStatus,
    /// The number of messages between two reports.
    every: u64,
    /// The number of received messages since the last report.
    unreported: u64,
}

enum Source<M> {
    Messages(QueueReceiver<M>),
    Frames(Box<Frames<M>>),
}

/// The frames that have come over a connection. The role decodes their messages one at a time, so
/// that the messages of a frame are not all in memory at once, perhaps on another core.
struct Frames<M> {
    queue: QueueReceiver<Arrived>,
    current: Option<Arrived>,
    /// A message that was decoded but not received.
    held: Option<Result<M, NetError>>,
    read: Read<M>,
}

/// A frame of messages, and the numbers that the labels of the peer have here.
pub(crate) struct Arrived {
    pub(crate) messages: Messages,
    pub(crate) numbers: Option<Arc<Numbers>>,
}

pub(crate) type Read<M> = Box<dyn Fn(&[u8], Option<&Numbers>) -> Result<M, NetError> + Send + Sync>;

/// The end of a [`Net`] for the task of its lane.
pub(crate) struct FarEnd<M> {
    pub(crate) incoming: Incoming<M>,
    pub(crate) outgoing: QueueReceiver<M>,
    pub(crate) status: SharedStatus,
}

/// The queue from the task of a lane to the role.
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
            // Frees the memory before it waits.
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

/// Both ends of a route within a host. The shared status reports errors after one end has moved.
pub(crate) fn wired<M: 'static>(sent: Queue, received: Queue) -> [(Net<M>, SharedStatus); 2] {
    let status = SharedStatus::default();
    let ((out, far_in), (far_out, inbox)) = (pair(sent), pair(received));
    [(out, inbox), (far_out, far_in)].map(|(out, inbox)| {
        let window = window(inbox.queue().capacity);
        let source = Source::Messages(inbox);
        let route = route(out, source, window, &status, false);
        (route, Arc::clone(&status))
    })
}

/// The window of a queue without a proven capacity: large enough that an end continues while the
/// other end waits for a core.
pub(crate) const WINDOW: usize = 8192;

/// The number of messages that may be under way in a queue with this capacity.
pub(crate) fn window(capacity: Capacity) -> usize {
    match capacity {
        Capacity::AtMost(most) | Capacity::Waits(most) => most,
        // Further messages stay in the peer's queue, which grows.
        _ => WINDOW,
    }
}

/// The number of messages after which an end with this window reports how many it has received. A
/// report wakes a task and sends a frame, which costs more than a message.
pub(crate) fn every(window: usize) -> u64 {
    window.clamp(32, WINDOW / 4) as u64
}

/// A route with this sending queue and this window, and the end for the task of its lane. The queue
/// to the role grows: credit limits it.
pub(crate) fn net<M: 'static>(sent: Queue, window: usize, read: Read<M>) -> (Net<M>, FarEnd<M>) {
    let status = SharedStatus::default();
    let ((far_out, queue), (out, outgoing)) = (pair(Queue::default()), pair(sent));
    let source = Source::Frames(Box::new(Frames { queue, current: None, held: None, read }));
    let near = route(out, source, window, &status, false);
    (near, FarEnd { incoming: Incoming::Frames(far_out), outgoing, status })
}

/// A route to a peer without sessions, with the queues and the status of its task.
pub(crate) fn net_of_messages<M: 'static>()
-> (Net<M>, QueueSender<M>, QueueReceiver<M>, SharedStatus) {
    let status = SharedStatus::default();
    let ((far_out, queue), (out, mut far_in)) = (pair(Queue::default()), pair(Queue::default()));
    // The peer never reports a completed session.
    far_in.complete(usize::MAX);
    let source = Source::Messages(queue);
    let near = route(out, source, WINDOW, &status, true);
    (near, far_out, far_in, status)
}

fn pair<M>(queue: Queue) -> (QueueSender<M>, QueueReceiver<M>) {
    Pair::pair_as(queue, Queue::default())
}

fn route<M: 'static>(
    queue: QueueSender<M>,
    source: Source<M>,
    window: usize,
    status: &SharedStatus,
    is_foreign: bool,
) -> Net<M> {
    let outbox = Outbox { queue, status: Arc::clone(status) };
    let inbox = Inbox { source, status: Arc::clone(status), every: every(window), unreported: 0 };
    let abilities = match is_foreign {
        true => || (Outbox::HALF, Inbox::FOREIGN),
        false => || (Outbox::HALF, Inbox::HALF),
    };
    Net::of_halves(Some((outbox, inbox)), abilities, ByMacro(()))
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
        keeps_sessions_apart: |_| true,
        ..Half::PLAIN
    };

    /// The abilities of a half whose peer has no sessions.
    const FOREIGN: Half<Self> = Half { keeps_sessions_apart: |_| false, ..Self::HALF };

    /// Notes that the role has completed so many sessions.
    fn complete(&mut self, sessions: usize) {
        match &mut self.source {
            Source::Messages(queue) => queue.complete(sessions),
            Source::Frames(frames) => frames.queue.complete(sessions),
        }
        self.status.lane.wake();
    }

    /// Returns true if the next message is wanted. An unreadable message and the end are always
    /// wanted.
    fn poll_wanted(
        &mut self,
        is_wanted: &dyn Fn(&dyn Any) -> bool,
        context: &Context<'_>,
    ) -> Poll<bool> {
        match &mut self.source {
            Source::Messages(queue) => {
                let found = Cell::new(true);
                let look = |message: &M| {
                    found.set(is_wanted(message));
                    false
                };
                queue.poll_if(true, look, context).map(|_| found.get())
            }
            Source::Frames(frames) => {
                frames.held = ready!(frames.poll_next(&mut Context::from_waker(context.waker())));
                let is_unwanted = matches!(&frames.held, Some(Ok(it)) if !is_wanted(it));
                Poll::Ready(!is_unwanted)
            }
        }
    }
}

impl<M> Inbox<M> {
    #[inline]
    fn count(&mut self) {
        self.unreported += 1;
        if self.unreported >= self.every {
            self.status.received.fetch_add(self.unreported, Ordering::Release);
            self.unreported = 0;
            self.status.lane.wake();
        }
    }

    /// Drains the messages that were never received, and returns how many sessions the peer had
    /// completed when it left. Fails if a message cannot be read.
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
        // The task of the lane sends without further polls.
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
        let (status, source) = (SharedStatus::default(), Source::Messages(receiver));
        let inbox = Inbox { source, status: Arc::clone(&status), every: u64::MAX, unreported: 0 };
        (Outbox { queue, status }, inbox)
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

debug!([M] Inbox<M>, "status": |it| Arc::clone(&it.status));
