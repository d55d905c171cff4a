//! The sending half of a `Net`, and its other end at the task of a lane.
//!
//! The role itself writes its messages as bytes, once, into the frames that go to the peer. So the
//! bytes that wait for the task count towards the [window](super::window). Messages share a frame
//! until the task takes it, or it is full. A large message has a frame of its own.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use futures_core::Stream as _;
use futures_sink::Sink;
use rumpsteak_runtime::channel::{Queue, QueueReceiver, QueueSender};
use rumpsteak_runtime::error::BoxError;
use rumpsteak_runtime::transport::{Half, KnownRoom, Pair};

use super::credit::{Taken, Window};
use super::status::SharedStatus;
use crate::NetError;
use crate::platform::lock;
use crate::wire::{Amount, Batch, frame};

/// The sending half of a [`Net`](crate::Net).
pub struct Outbox<M> {
    pub(super) sink: Target<M>,
    pub(crate) status: SharedStatus,
}

pub(super) enum Target<M> {
    /// To a role of this host, or to a peer without sessions.
    Local(LocalQueue<M>),
    Lane(Box<Writer<M>>),
}

/// The queue to a role of this host.
pub(crate) struct LocalQueue<M> {
    pub(crate) queue: QueueSender<M>,
    pub(crate) sent: u64,
    /// Counts the messages that the other role has taken.
    pub(crate) taken: Arc<Taken>,
}

/// Adds a message to a batch, and frames that are full to the others. Returns its size.
pub(crate) type Write<M> =
    Box<dyn Fn(&mut Batch, &mut VecDeque<Bytes>, &M) -> Result<usize, NetError> + Send + Sync>;

/// The queue to the task of a lane.
pub(super) struct Writer<M> {
    queue: QueueSender<Begun>,
    frames: SharedFrames,
    write: Write<M>,
    /// The size of the last message, if it was large.
    large: Option<usize>,
    sent: Amount,
    /// The part of it that the peer's role has taken, when this end last looked.
    taken: Amount,
    window: Window,
}

/// A frame has begun. It has the messages that the role sends in this session until the task takes
/// it.
struct Begun(#[expect(dead_code, reason = "a message of a queue has a size")] u8);

/// The frames that have begun, and that the task has not taken. The batch is the last of them. If a
/// codec panics, its message is not in it.
#[derive(Default)]
struct Frames {
    full: VecDeque<Bytes>,
    batch: Batch,
}

impl Frames {
    fn count(&self) -> usize {
        self.full.len() + usize::from(!self.batch.is_empty())
    }
}

type SharedFrames = Arc<Mutex<Frames>>;

pub(super) fn pair<M>(queue: Queue) -> (QueueSender<M>, QueueReceiver<M>) {
    Pair::pair_as(queue, Queue::default())
}

/// The end of an [`Outbox`] for the task of its lane.
pub(crate) enum Outgoing<M> {
    Messages(QueueReceiver<M>),
    Written(Reader),
}

pub(crate) struct Reader {
    queue: QueueReceiver<Begun>,
    frames: SharedFrames,
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

/// The next message or frame of the role.
pub(crate) enum Next<M> {
    Message(M),
    Frame(Bytes),
}

impl<M> Outgoing<M> {
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Next<M>>> {
        let Reader { queue, frames, .. } = match self {
            Self::Messages(queue) => {
                return Pin::new(queue).poll_next(context).map(|next| next.map(Next::Message));
            }
            Self::Written(reader) => reader,
        };
        while ready!(Pin::new(&mut *queue).poll_next(context)).is_some() {
            let Frames { full, batch } = &mut *lock(frames);
            if let Some(frame) = full.pop_front().or_else(|| batch.take()) {
                return Poll::Ready(Some(Next::Frame(frame)));
            }
        }
        Poll::Ready(None)
    }

    /// Waits until there is a message. Returns false if the role has left without one.
    pub(crate) fn poll_has(&mut self, context: &Context<'_>) -> Poll<bool> {
        for_all!(self, Self: Messages(queue) | Written(Reader { queue, .. }) => {
            queue.poll_if(true, |_| false, context).map(|it| it.is_some())
        })
    }

    pub(crate) fn reuse(&mut self, frame: Bytes) {
        if let Self::Written(reader) = self {
            lock(&reader.frames).batch.reuse(frame);
        }
    }

    /// The peer has completed so many sessions.
    pub(crate) fn complete(&mut self, sessions: usize) {
        for_all!(self, Self: Messages(queue) | Written(Reader { queue, .. }) => queue.complete(sessions));
    }

    /// True if nothing waits for the task.
    pub(crate) fn is_empty(&mut self) -> bool {
        let context = Context::from_waker(Waker::noop());
        for_all!(self, Self: Messages(queue) | Written(Reader { queue, .. }) => {
            queue.poll_if(false, |_| false, &context).is_pending()
        })
    }

    /// The number of sessions that the role has ended, if it tells, or else when it has left.
    pub(crate) fn left_after(&self) -> usize {
        for_all!(self, Self: Messages(queue) | Written(Reader { queue, .. }) => queue.left_after())
    }
}

impl<M> Outbox<M> {
    pub(super) const HALF: Half<Self> = Half {
        poll_begin: Self::poll_begin,
        completed: Self::completed,
        end: Self::end,
        ..Half::PLAIN
    };

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
        let (frames, waits) = (SharedFrames::default(), Waits(Arc::clone(status)));
        let writer = Writer {
            queue: sender,
            frames: Arc::clone(&frames),
            write,
            large: None,
            sent: Amount::default(),
            taken: Amount::default(),
            window,
        };
        let reader = Reader { queue: receiver, frames, _waits: waits };
        let outbox = Self { sink: Target::Lane(Box::new(writer)), status: Arc::clone(status) };
        (outbox, Outgoing::Written(reader))
    }

    fn completed(&self) -> usize {
        for_all!(&self.sink, Target: Local(it) | Lane(it) => it.queue.completed())
    }

    fn end(&mut self, sessions: usize) {
        for_all!(&mut self.sink, Target: Local(it) | Lane(it) => it.queue.end(sessions));
    }

    fn poll_begin(&mut self, session: usize, waker: &Waker) -> Poll<()> {
        match &mut self.sink {
            Target::Local(it) => it.queue.poll_begin(session, waker),
            Target::Lane(it) => {
                // A frame belongs to one session.
                let Frames { full, batch } = &mut *lock(&it.frames);
                full.extend(batch.take());
                it.queue.poll_begin(session, waker)
            }
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
    fn start_send(&mut self, message: &M, status: &SharedStatus) -> Result<(), BoxError> {
        // As large as the last one, perhaps.
        let alone = self.large.map(|size| {
            let (mut alone, mut none) = (Batch::with_capacity(size), VecDeque::new());
            ((self.write)(&mut alone, &mut none, message), alone.take())
        });
        let mut frames = lock(&self.frames);
        // The task takes frames only while it holds the lock.
        let before = frames.count();
        let Frames { full, batch } = &mut *frames;
        let size = match alone {
            None => (self.write)(batch, full, message),
            Some((size, alone)) => {
                full.extend(batch.take());
                full.extend(alone);
                size
            }
        };
        let has_begun = frames.count() > before;
        drop(frames);
        let size = size.inspect_err(|error| status.fail(error.clone()))?;
        self.large = Some(size).filter(|size| *size >= frame::LARGE);
        self.sent.add(Amount { messages: 1, bytes: frame::size_of(size) });
        if has_begun {
            return Pin::new(&mut self.queue).start_send(Begun(0)).map_err(|_| status.reason());
        }
        Ok(())
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
                status.note_sent();
                Pin::new(&mut it.queue).start_send(message)
            }
            Target::Lane(it) => return it.start_send(&message, status),
        };
        sent.map_err(|_| status.reason())
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The task of the lane sends without further polls.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let sink = &mut self.get_mut().sink;
        for_all!(sink, Target: Local(it) | Lane(it) => Pin::new(&mut it.queue).poll_close(context))
            .map_err(Into::into)
    }
}

impl_debug!([M] Outbox<M>, "status": |it| Arc::clone(&it.status));
