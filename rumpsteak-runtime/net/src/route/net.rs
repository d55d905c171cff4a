//! `Net`: the route whose other end is in this process or in another one.

use std::any::Any;
use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use futures_core::Stream;
use rumpsteak_runtime::channel::{Queue, QueueReceiver, QueueSender};
use rumpsteak_runtime::error::BoxError;
use rumpsteak_runtime::private::ByMacro;
use rumpsteak_runtime::transport::{Bidirectional, Half, Left, Pair};

use super::credit::{Taken, Window};
use super::outbox::{LocalQueue, Outbox, Outgoing, Target, Write, pair};
use super::status::SharedStatus;
use crate::NetError;
use crate::wire::{Amount, Messages, Numbers, reading};

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

/// The receiving half of a [`Net`].
pub struct Inbox<M> {
    source: Source<M>,
    status: SharedStatus,
    taken: Arc<Taken>,
    /// The number of messages that the role has taken.
    received: u64,
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
    pub(crate) outgoing: Outgoing<M>,
    pub(crate) status: SharedStatus,
    /// The messages that the role takes, and its count before the first one.
    pub(crate) taken: (Arc<Taken>, u64),
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
        for_all!(self, Self: Messages(queue, _) | Frames(queue) => queue.completed())
    }

    /// The peer has ended so many sessions, and all that it has sent in them is in the queue.
    pub(crate) fn end(&mut self, sessions: usize) {
        for_all!(self, Self: Messages(queue, _) | Frames(queue) => queue.end(sessions));
    }
}

impl<M> Frames<M> {
    #[inline]
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<M, NetError>>> {
        if let Some(held) = self.held.take() {
            return Poll::Ready(Some(held));
        }
        loop {
            if let Some(Arrived { messages, numbers }) = &mut self.current {
                let (read, numbers) = (&self.read, numbers.as_deref());
                if messages.are_large() {
                    if let Some(bytes) = messages.next_shared() {
                        return Poll::Ready(Some(reading(bytes.clone(), || read(&bytes, numbers))));
                    }
                } else if let Some(bytes) = messages.next() {
                    return Poll::Ready(Some(read(bytes, numbers)));
                }
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
    let [near, far] = [(); 2].map(|()| Arc::default());
    [(out, &far, inbox, &near), (far_out, &near, far_in, &far)].map(|(out, far, inbox, near)| {
        let outbox = Outbox::to(out, far, &status);
        (route(outbox, Source::Messages(inbox), near, &status, false), Arc::clone(&status))
    })
}

/// The number of messages that may be under way in a queue without a proven capacity: large enough
/// that an end continues while the other end waits for a core.
pub(crate) const WINDOW: usize = 8192;

/// A route with this sending queue and its window, and the end for the task of its lane. The queue
/// to the role grows: credit limits it.
pub(crate) fn net<M: 'static>(
    sent: Queue,
    window: Window,
    (read, write): (Read<M>, Write<M>),
) -> (Net<M>, FarEnd<M>) {
    let (status, taken) = (SharedStatus::default(), Arc::default());
    status.note_taken(Amount::default(), window.bytes);
    let (far_out, queue) = pair(Queue::default());
    let (outbox, outgoing) = Outbox::to_lane(sent, window, write, &status);
    let source = Source::Frames(Box::new(Frames { queue, current: None, held: None, read }));
    let near = route(outbox, source, &taken, &status, false);
    (near, FarEnd { incoming: Incoming::Frames(far_out), outgoing, status, taken: (taken, 0) })
}

/// A route to a peer without sessions, or of a stored role: with the queues and the status of its
/// task, and the number of messages that the role takes.
pub(crate) fn net_of_messages<M: 'static>()
-> (Net<M>, QueueSender<M>, QueueReceiver<M>, SharedStatus, Arc<Taken>) {
    let (status, taken) = (SharedStatus::default(), Arc::default());
    let ((far_out, queue), (out, mut far_in)) = (pair(Queue::default()), pair(Queue::default()));
    // The peer never reports a completed session.
    far_in.complete(usize::MAX);
    let outbox = Outbox::to(out, &taken, &status);
    let near = route(outbox, Source::Messages(queue), &taken, &status, true);
    (near, far_out, far_in, status, taken)
}

fn route<M: 'static>(
    outbox: Outbox<M>,
    source: Source<M>,
    taken: &Arc<Taken>,
    status: &SharedStatus,
    is_foreign: bool,
) -> Net<M> {
    let (status, taken) = (Arc::clone(status), Arc::clone(taken));
    let inbox = Inbox { source, status, taken, received: 0 };
    let abilities = match is_foreign {
        true => || (Outbox::HALF, Inbox::FOREIGN),
        false => || (Outbox::HALF, Inbox::HALF),
    };
    Net::of_halves(Some((outbox, inbox)), abilities, ByMacro(()))
}

/// The queues of a route within a host.
pub(crate) fn queues<M>(
    (outbox, inbox): (Outbox<M>, Inbox<M>),
) -> Option<(LocalQueue<M>, QueueReceiver<M>)> {
    match (outbox.sink, inbox.source) {
        (Target::Local(local), Source::Messages(queue)) => Some((local, queue)),
        _ => None,
    }
}

impl<M: 'static> Inbox<M> {
    const HALF: Half<Self> = Half {
        look: Some(Self::poll_wanted),
        complete: Self::complete,
        poll_end: Self::poll_end,
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
        self.taken.lane.wake();
    }

    /// Waits until the peer has ended its session, and drops what has come too late.
    fn poll_end(&mut self, sessions: usize, waker: &Waker) -> Poll<()> {
        let Self { source, taken, received, .. } = self;
        let ended = match source {
            Source::Messages(queue) => queue.poll_end(sessions, |_| *received += 1, waker),
            Source::Frames(frames) => {
                let Frames { queue, current, held, .. } = &mut **frames;
                if queue.has_completed(sessions) {
                    return Poll::Ready(());
                }
                *received += u64::from(held.take().is_some());
                let mut dropped = |Arrived { mut messages, .. }| {
                    while messages.next().is_some() {
                        *received += 1;
                    }
                };
                current.take().into_iter().for_each(&mut dropped);
                queue.poll_end(sessions, dropped, waker)
            }
        };
        taken.store(*received);
        taken.lane.wake();
        ended
    }

    /// Returns true if the next message is wanted. An unreadable message and the end are always
    /// wanted.
    fn poll_wanted(
        &mut self,
        is_wanted: &dyn Fn(&dyn Any) -> bool,
        context: &Context<'_>,
    ) -> Poll<bool> {
        match &mut self.source {
            Source::Messages(_) if self.status.is_unsaved() => Poll::Ready(true),
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

impl<M> Stream for Inbox<M> {
    type Item = Result<M, BoxError>;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.status.is_unsaved() {
            return Poll::Ready(Some(Err(NetError::Unsaved.into())));
        }
        Poll::Ready(match ready!(this.source.poll_next(context)) {
            Some(Ok(message)) => {
                this.received += 1;
                this.taken.store(this.received);
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
    fn pair_as(sent: Queue, received: Queue) -> (Self, Inbox<M>) {
        let (queue, receiver) = Pair::pair_as(sent, received);
        let (status, taken) = (SharedStatus::default(), Arc::default());
        let outbox = Outbox::to(queue, &taken, &status);
        (outbox, Inbox { source: Source::Messages(receiver), status, taken, received: 0 })
    }

    const HALVES: (Half<Self>, Half<Inbox<M>>) = (Outbox::HALF, Inbox::HALF);
}

impl<M: 'static> Pair<Outbox<M>> for Inbox<M> {
    fn pair_as(sent: Queue, received: Queue) -> (Self, Outbox<M>) {
        let (outbox, inbox) = Outbox::pair_as(received, sent);
        (inbox, outbox)
    }

    const HALVES: (Half<Self>, Half<Outbox<M>>) = (Inbox::HALF, Outbox::HALF);
}

impl_debug!([M] Inbox<M>, "status": |it| Arc::clone(&it.status));
