//! The sending half of a `Net`, and its other end at the task of a lane.
//!
//! The role itself writes its messages as bytes, once. So the bytes that wait for the task count
//! towards the [window](super::window). A small message goes into a buffer that role and task
//! share, a larger one is a frame of its own.

use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use futures_core::Stream as _;
use futures_sink::Sink;
use rumpsteak_runtime::channel::{Queue, QueueReceiver, QueueSender};
use rumpsteak_runtime::error::BoxError;
use rumpsteak_runtime::transport::{Half, KnownRoom, Pair};

use super::status::SharedStatus;
use super::window::{Taken, Window};
use crate::NetError;
use crate::wire::{Amount, frame};

/// The sending half of a [`Net`](crate::Net).
pub struct Outbox<M> {
    sink: Target<M>,
    pub(crate) status: SharedStatus,
}

enum Target<M> {
    /// To a role of this host, or to a peer without sessions.
    Local(LocalQueue<M>),
    Lane(Box<Writer<M>>),
}

/// The queue to a role of this host.
pub(crate) struct LocalQueue<M> {
    pub(crate) queue: QueueSender<M>,
    /// The number of messages that were sent.
    pub(crate) sent: u64,
    /// Counts the messages that the other role has taken.
    pub(crate) taken: Arc<Taken>,
}

pub(crate) type Write<M> = Box<dyn Fn(&M, &mut Vec<u8>) -> Result<(), NetError> + Send + Sync>;

/// The queue to the task of a lane.
struct Writer<M> {
    queue: QueueSender<Written>,
    small: SharedBytes,
    write: Write<M>,
    /// The frame of the next message.
    frame: Vec<u8>,
    /// The size of the last frame, if it was large.
    expected: usize,
    sent: Amount,
    /// The part of it that the peer's role has taken, when this end last looked.
    taken: Amount,
    window: Window,
}

/// A message in the queue.
enum Written {
    /// The next so many bytes in the shared buffer.
    Small(usize),
    Frame(Bytes),
}

type SharedBytes = Arc<Mutex<Vec<u8>>>;

/// The largest message in the shared buffer, in bytes.
const SMALL: usize = 1 << 10;

/// The largest buffer that is kept for further messages, in bytes.
const SPARE: usize = 16 << 10;

fn lock(bytes: &SharedBytes) -> MutexGuard<'_, Vec<u8>> {
    // Nothing panics while it holds the lock.
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn pair<M>(queue: Queue) -> (QueueSender<M>, QueueReceiver<M>) {
    Pair::pair_as(queue, Queue::default())
}

/// The end of an [`Outbox`] for the task of its lane.
pub(crate) enum Outgoing<M> {
    Messages(QueueReceiver<M>),
    Written(Reader),
}

pub(crate) struct Reader {
    queue: QueueReceiver<Written>,
    small: SharedBytes,
    /// Bytes that were in the shared buffer, and the start of the next message.
    bytes: Vec<u8>,
    at: usize,
    /// Dropped after the queue.
    _waits: Waits,
}

/// Wakes a role that waits for room, when the queue is gone.
struct Waits(SharedStatus);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.room.wake();
    }
}

/// A message from the queue.
pub(crate) enum Next<'a, M> {
    Message(M),
    Small(&'a [u8]),
    Frame(Bytes),
}

impl<M> Outgoing<M> {
    #[inline]
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Next<'_, M>>> {
        let reader = match self {
            Self::Messages(queue) => {
                return Pin::new(queue).poll_next(context).map(|next| next.map(Next::Message));
            }
            Self::Written(reader) => reader,
        };
        Poll::Ready(ready!(Pin::new(&mut reader.queue).poll_next(context)).map(|next| match next {
            Written::Frame(frame) => Next::Frame(frame),
            Written::Small(size) => {
                if reader.at == reader.bytes.len() {
                    reader.bytes.clear();
                    reader.bytes.shrink_to(SPARE);
                    mem::swap(&mut reader.bytes, &mut lock(&reader.small));
                    reader.at = 0;
                }
                let message = &reader.bytes[reader.at..][..size];
                reader.at += size;
                Next::Small(message)
            }
        }))
    }

    /// Waits until there is a message. Returns false if there is none, and the role has left.
    pub(crate) fn poll_has(&mut self, context: &Context<'_>) -> Poll<bool> {
        match self {
            Self::Messages(queue) => queue.poll_if(true, |_| false, context).map(|it| it.is_some()),
            Self::Written(it) => it.queue.poll_if(true, |_| false, context).map(|it| it.is_some()),
        }
    }

    /// The peer has completed so many sessions.
    pub(crate) fn complete(&mut self, sessions: usize) {
        match self {
            Self::Messages(queue) => queue.complete(sessions),
            Self::Written(reader) => reader.queue.complete(sessions),
        }
    }

    pub(crate) fn left_after(&self) -> usize {
        match self {
            Self::Messages(queue) => queue.left_after(),
            Self::Written(reader) => reader.queue.left_after(),
        }
    }
}

impl<M> Outbox<M> {
    pub(super) const HALF: Half<Self> = Half { poll_begin: Self::poll_begin, ..Half::PLAIN };

    /// To a queue whose other end counts what it takes.
    pub(super) fn to(queue: QueueSender<M>, taken: &Arc<Taken>, status: &SharedStatus) -> Self {
        let local = LocalQueue { queue, sent: 0, taken: Arc::clone(taken) };
        Self { sink: Target::Local(local), status: Arc::clone(status) }
    }

    /// To the task of a lane, through a queue with this capacity.
    pub(super) fn to_lane(
        queue: Queue,
        window: Window,
        write: Write<M>,
        status: &SharedStatus,
    ) -> (Self, Outgoing<M>) {
        let (sender, receiver) = pair(queue);
        let (small, waits) = (SharedBytes::default(), Waits(Arc::clone(status)));
        let (sent, taken) = Default::default();
        let writer = Writer {
            queue: sender,
            small: Arc::clone(&small),
            write,
            frame: Vec::new(),
            expected: 0,
            sent,
            taken,
            window,
        };
        let reader = Reader { queue: receiver, small, bytes: Vec::new(), at: 0, _waits: waits };
        let outbox = Self { sink: Target::Lane(Box::new(writer)), status: Arc::clone(status) };
        (outbox, Outgoing::Written(reader))
    }

    /// The queue, if it leads to a role of this host.
    pub(super) fn into_local(self) -> Option<LocalQueue<M>> {
        match self.sink {
            Target::Local(local) => Some(local),
            Target::Lane(_) => None,
        }
    }

    fn poll_begin(&mut self, session: usize, waker: &Waker) -> Poll<()> {
        match &mut self.sink {
            Target::Local(it) => it.queue.poll_begin(session, waker),
            Target::Lane(it) => it.queue.poll_begin(session, waker),
        }
    }
}

impl<M> Writer<M> {
    /// Waits until the window has room.
    #[inline]
    fn poll_room(&mut self, status: &SharedStatus, context: &Context<'_>) -> Poll<()> {
        if self.window.has_room(self.sent.since(self.taken)) || self.looks(status) {
            return Poll::Ready(());
        }
        status.room.register(context.waker());
        if self.looks(status) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Looks what the peer's role has taken. Returns true if there is room.
    #[cold]
    fn looks(&mut self, status: &SharedStatus) -> bool {
        (self.taken, self.window.bytes) = status.taken_by_peer();
        self.window.has_room(self.sent.since(self.taken))
    }

    #[inline]
    fn write(&mut self, message: &M) -> Result<Written, NetError> {
        self.frame.clear();
        self.frame.reserve(self.expected);
        frame::begin(&mut self.frame);
        (self.write)(message, &mut self.frame)?;
        let size = self.frame.len() - frame::ALONE;
        self.sent.add(1, size as u64);
        if size <= SMALL {
            lock(&self.small).extend_from_slice(&self.frame[frame::ALONE..]);
            if mem::take(&mut self.expected) > 0 {
                self.frame = Vec::new();
            }
            return Ok(Written::Small(size));
        }
        self.expected = self.frame.len();
        Ok(Written::Frame(frame::alone(mem::take(&mut self.frame))))
    }
}

#[diagnostic::do_not_recommend]
impl<M, P> KnownRoom<P> for Outbox<M> {}

impl<M> Sink<M> for Outbox<M> {
    type Error = BoxError;

    #[inline]
    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let Self { sink, status } = self.get_mut();
        let ready = match sink {
            Target::Local(it) => ready!(Pin::new(&mut it.queue).poll_ready(context)),
            Target::Lane(it) => {
                let is_full = it.poll_room(status, context).is_pending();
                // If the task is gone: it drops its end of the queue before it wakes.
                let ready = ready!(Pin::new(&mut it.queue).poll_ready(context));
                if is_full && ready.is_ok() {
                    return Poll::Pending;
                }
                ready
            }
        };
        Poll::Ready(ready.map_err(|_| status.reason()))
    }

    #[inline]
    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), BoxError> {
        let Self { sink, status } = self.get_mut();
        let sent = match sink {
            Target::Local(it) => {
                it.sent += 1;
                Pin::new(&mut it.queue).start_send(message)
            }
            Target::Lane(it) => {
                let written = it.write(&message).inspect_err(|error| status.fail(error.clone()))?;
                Pin::new(&mut it.queue).start_send(written)
            }
        };
        sent.map_err(|_| status.reason())
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The task of the lane sends without further polls.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.get_mut().sink {
            Target::Local(it) => Pin::new(&mut it.queue).poll_close(context),
            Target::Lane(it) => Pin::new(&mut it.queue).poll_close(context),
        }
        .map_err(Into::into)
    }
}

debug!([M] Outbox<M>, "status": |it| Arc::clone(&it.status));
