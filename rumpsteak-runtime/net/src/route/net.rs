//! `Net`: the route whose other end is in this process or in another one.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use atomic_waker::AtomicWaker;
use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use rumpsteak_runtime::channel::{Capacity, Disconnected, Queue, QueueReceiver, QueueSender};
use rumpsteak_runtime::error::BoxError;
use rumpsteak_runtime::private::ByMacro;
use rumpsteak_runtime::transport::{Bidirectional, Half, Left, Pair};

use crate::transport::Connection;
use crate::wire::{Messages, Numbers};
use crate::{Address, NetError};

/// A route whose other end is in this process or in another one. The role that has it cannot tell,
/// and its process does not change.
///
/// As a [`Channel`](rumpsteak_runtime::Channel) it is two queues in memory, of the capacities that
/// the build script proved. Between processes a task on each side moves messages between the queues
/// and the connection. The set of a module's roles wires such routes in memory;
/// [`Host::join`](crate::Host::join) connects them with peers anywhere.
///
/// If the peer has left, in order or not, the error is
/// [`ErrorKind::Closed`](rumpsteak_runtime::ErrorKind::Closed), as over a `Channel`. If the peer is
/// lost or breaks the rules, the error is
/// [`ErrorKind::Transport`](rumpsteak_runtime::ErrorKind::Transport) with a [`NetError`].
pub type Net<M> = Bidirectional<Outbox<M>, Inbox<M>>;

/// The state that a role and the task of a connection share beside messages.
#[derive(Debug, Default)]
pub(crate) struct RouteStatus {
    failed: OnceLock<NetError>,
    /// How many messages the role has received: it tells so now and then.
    received: AtomicU64,
    lane: AtomicWaker,
    /// The address of the peer, if it is known, and the time of the last frame from it.
    connection: Mutex<Option<(String, Instant)>>,
}

pub(crate) type SharedStatus = Arc<RouteStatus>;

impl RouteStatus {
    /// Tells the role an error, unless it knows an earlier one.
    pub(crate) fn fail(&self, error: NetError) {
        let _ = self.failed.set(error);
    }

    pub(crate) fn check(&self) -> Result<(), NetError> {
        self.failed.get().cloned().map_or(Ok(()), Err)
    }

    /// The role has a connection with its peer.
    pub(crate) fn connected(&self, connection: &Connection) {
        let called = connection.at.as_ref().map(Address::to_string);
        let caller = || connection.caller.map(|address| address.to_string());
        let address = called.or_else(caller).unwrap_or_else(|| "an unknown address".to_owned());
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

    /// How many messages the role has told that it has received. Wakes the task when it tells more.
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

/// The receiving half of a [`Net`].
pub struct Inbox<M> {
    source: Source<M>,
    status: SharedStatus,
    /// After how many messages it tells how many it has received.
    every: u64,
    /// How many it has not told yet.
    untold: u64,
}

enum Source<M> {
    Messages(QueueReceiver<M>),
    Frames(Box<Frames<M>>),
}

/// The frames that have come over a connection. The role itself decodes messages, one at a time: if
/// the task of the connection did, all messages of a frame would be in memory at once, perhaps on
/// another core.
struct Frames<M> {
    queue: QueueReceiver<Arrived>,
    current: Option<Arrived>,
    /// A message that was looked at.
    held: Option<Result<M, NetError>>,
    read: Read<M>,
}

/// Messages that have come, with the numbers that the labels of the peer have here.
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

pub(crate) type Read<M> = Box<dyn Fn(&[u8], Option<&Numbers>) -> Result<M, NetError> + Send + Sync>;

/// The end of a [`Net`] that the task of its connection has.
pub(crate) struct FarEnd<M> {
    pub(crate) incoming: Incoming<M>,
    pub(crate) outgoing: QueueReceiver<M>,
    pub(crate) status: SharedStatus,
}

/// The queue into which the task of a connection puts messages for the role.
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
            // Its memory can be used again.
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

/// Both ends of a route within a host. They share a status, which tells them if one of them fails
/// after it has moved to another host.
pub(crate) fn wired<M: 'static>(sent: Queue, received: Queue) -> [(Net<M>, SharedStatus); 2] {
    let status = SharedStatus::default();
    let ((out, far_in), (far_out, inbox)) = (pair(sent), pair(received));
    [(out, inbox), (far_out, far_in)].map(|(out, inbox)| {
        let window = window(inbox.queue().capacity);
        (route(out, Source::Messages(inbox), window, &status), Arc::clone(&status))
    })
}

/// The window of a queue about which nothing was proven: large enough that an end goes on while the
/// other one waits for a core.
pub(crate) const WINDOW: usize = 8192;

/// How many messages may be under way in a queue with this capacity.
pub(crate) fn window(capacity: Capacity) -> usize {
    match capacity {
        Capacity::AtMost(most) | Capacity::Waits(most) => most,
        // The rest stays with the peer, whose queue grows.
        _ => WINDOW,
    }
}

/// After how many messages an end with this window tells how many it has received. A task that is
/// woken for each message, and a frame for each, would cost more than the messages.
pub(crate) fn every(window: usize) -> u64 {
    window.clamp(32, WINDOW / 4) as u64
}

/// A route that sends into this queue and has this window, with its other end for the task of a
/// connection. The queue towards the role grows: the task grants what goes into it.
pub(crate) fn net<M: 'static>(sent: Queue, window: usize, read: Read<M>) -> (Net<M>, FarEnd<M>) {
    let status = SharedStatus::default();
    let ((far_out, queue), (out, outgoing)) = (pair(Queue::default()), pair(sent));
    let source = Source::Frames(Box::new(Frames { queue, current: None, held: None, read }));
    let near = route(out, source, window, &status);
    (near, FarEnd { incoming: Incoming::Frames(far_out), outgoing, status })
}

/// A route to a peer that knows nothing of sessions, with the queues and the status of its task.
pub(crate) fn net_of_messages<M: 'static>()
-> (Net<M>, QueueSender<M>, QueueReceiver<M>, SharedStatus) {
    let status = SharedStatus::default();
    let ((far_out, queue), (out, mut far_in)) = (pair(Queue::default()), pair(Queue::default()));
    // The peer never says that it has completed a session.
    far_in.complete(usize::MAX);
    let (outbox, inbox) = halves(out, Source::Messages(queue), WINDOW, &status);
    let abilities = || (Outbox::HALF, Inbox::FOREIGN);
    (Net::of_halves(Some((outbox, inbox)), abilities, ByMacro(())), far_out, far_in, status)
}

fn pair<M>(queue: Queue) -> (QueueSender<M>, QueueReceiver<M>) {
    Pair::pair_as(queue, Queue::default())
}

fn halves<M>(
    queue: QueueSender<M>,
    source: Source<M>,
    window: usize,
    status: &SharedStatus,
) -> (Outbox<M>, Inbox<M>) {
    let outbox = Outbox { queue, status: Arc::clone(status) };
    (outbox, Inbox { source, status: Arc::clone(status), every: every(window), untold: 0 })
}

fn route<M: 'static>(
    queue: QueueSender<M>,
    source: Source<M>,
    window: usize,
    status: &SharedStatus,
) -> Net<M> {
    let halves = halves(queue, source, window, status);
    Net::of_halves(Some(halves), || (Outbox::HALF, Inbox::HALF), ByMacro(()))
}

impl<M> Outbox<M> {
    const HALF: Half<Self> = Half {
        poll_begin: |outbox, session, waker| outbox.queue.poll_begin(session, waker),
        watch: |outbox, role, _| outbox.queue.watch(role),
        ..Half::PLAIN
    };
}

/// The queues of a route within a host.
pub(crate) fn queues<M>(
    (outbox, mut inbox): (Outbox<M>, Inbox<M>),
) -> Option<(QueueSender<M>, QueueReceiver<M>)> {
    inbox.watch(0, false);
    match inbox.source {
        Source::Messages(queue) => Some((outbox.queue, queue)),
        Source::Frames(_) => None,
    }
}

impl<M: 'static> Inbox<M> {
    const HALF: Half<Self> = Half {
        look: Some(Self::poll_wanted),
        complete: Self::complete,
        watch: Self::watch,
        keeps_sessions_apart: |_| true,
        ..Half::PLAIN
    };

    /// The abilities of a half whose peer knows nothing of sessions.
    const FOREIGN: Half<Self> = Half { keeps_sessions_apart: |_| false, ..Self::HALF };
}

impl<M> Inbox<M> {
    /// Says that the role has completed so many sessions.
    fn complete(&mut self, sessions: usize) {
        match &mut self.source {
            Source::Messages(queue) => queue.complete(sessions),
            Source::Frames(frames) => frames.queue.complete(sessions),
        }
        self.status.lane.wake();
    }

    fn watch(&mut self, role: usize, in_session: bool) -> usize {
        match &mut self.source {
            Source::Messages(queue) => queue.watch(role, in_session),
            Source::Frames(frames) => frames.queue.watch(role, in_session),
        }
    }

    /// Returns true if the next message is wanted. A message that cannot be read is, and so is the
    /// end.
    fn poll_wanted(
        &mut self,
        is_wanted: &dyn Fn(&dyn Any) -> bool,
        context: &Context<'_>,
    ) -> Poll<bool>
    where
        M: 'static,
    {
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

    #[inline]
    fn count(&mut self) {
        self.untold += 1;
        if self.untold >= self.every {
            self.status.received.fetch_add(self.untold, Ordering::Release);
            self.untold = 0;
            self.status.lane.wake();
        }
    }

    /// Drains the messages that were never received, and returns how many sessions the peer had
    /// completed when it left. Fails if a message cannot be read.
    pub(crate) fn into_unread(mut self) -> Result<(Vec<M>, usize), NetError> {
        self.watch(0, false);
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
        // The other end needs no word of what is received.
        let (near, far) = halves(queue, Source::Messages(receiver), WINDOW, &Arc::default());
        (near, Inbox { every: u64::MAX, ..far })
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

impl<M> fmt::Debug for Inbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("status", &self.status).finish_non_exhaustive()
    }
}
