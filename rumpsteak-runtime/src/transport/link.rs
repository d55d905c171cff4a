//! The traits that a transport implements.

use std::fmt;
use std::task::{Context, Poll, Waker, ready};

use super::mark::Mark;
use crate::error::BoxError;

/// The reason why a route failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum RouteError {
    /// The other end is gone.
    Closed,
    /// The transport failed. The error [`Left`] is an exception: the other end is gone.
    Transport(BoxError),
}

impl RouteError {
    pub(crate) fn left(&self) -> Option<&Left> {
        match self {
            Self::Closed => None,
            Self::Transport(error) => error.downcast_ref(),
        }
    }
}

/// A route, whatever its directions, with its [`Mark`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a route",
    label = "not a route",
    note = "use `Channel<M>`, or wrap a sink and a stream: `Bidirectional<Tx, Rx>`, with `Nil` for a half that is not needed"
)]
pub trait Link: 'static {
    /// The number of members to which the routes to a [family](crate::guide::families) lead.
    #[doc(hidden)]
    const MEMBERS: Option<fn(&Self) -> usize> = None;

    /// True if the route [tells ends](Self::end) where it keeps sessions apart.
    #[doc(hidden)]
    const TELLS_ENDS: bool = false;

    /// The mark of the route. Always the same one.
    fn mark(&self) -> &Mark;

    /// Closes the route for good and wakes a peer that waits for it.
    ///
    /// Must not panic: a role closes all its routes in turn, perhaps during a panic.
    fn close(&mut self);

    /// The number of messages that the queue to the other end has room for, if the route knows it.
    /// A role compares it with the declared capacity before its first session.
    fn capacity<M: 'static>(&self) -> Option<usize> {
        None
    }

    /// Begins the session of this number, counted from 0, over a route that [keeps sessions
    /// apart](Self::keeps_sessions_apart). Waits while the peer has not begun the session of this
    /// end's last message.
    fn poll_begin<M: 'static>(&mut self, session: usize, waker: &Waker) -> Poll<()> {
        let _ = (session, waker);
        Poll::Ready(())
    }

    /// Ends a session. The role has completed `sessions` sessions, and from now on receives the
    /// messages of the next one.
    fn complete<M: 'static>(&mut self, sessions: usize) {
        let _ = sessions;
    }

    /// The number of sessions that the peer has completed, as far as this end knows.
    #[doc(hidden)]
    fn peer_completed<M: 'static>(&self) -> usize {
        0
    }

    /// Tells the peer that this end has ended its session, as one of so many. Called if the peer
    /// drops what comes too late.
    #[doc(hidden)]
    fn end<M: 'static>(&mut self, _sessions: usize) {}

    /// [Completes](Self::complete) a session once the peer has ended it, too, and drops the
    /// messages that have come too late.
    #[doc(hidden)]
    fn poll_end<M: 'static>(&mut self, _sessions: usize, _waker: &Waker) -> Poll<()> {
        Poll::Ready(())
    }

    /// Returns true if a role never receives a message of a session that it has not begun. If not,
    /// and one of the ends takes whichever of its peers is first, there is one session.
    fn keeps_sessions_apart<M: 'static>(&self) -> bool {
        false
    }
}

/// A route that can be moved out of its role in the middle of a session: see
/// [`Detached`](crate::Detached).
#[diagnostic::on_unimplemented(
    message = "a route of type `{Self}` cannot be taken away in the middle of a session",
    note = "use a `Bidirectional`, such as `Channel<M>`, or implement `Movable` for your own transport"
)]
pub trait Movable: Link + Sized {
    /// Moves the route out with its [mark](Mark::take), and leaves a closed route.
    fn take(&mut self) -> Self;
}

/// A route that can send messages of type `M`.
#[diagnostic::on_unimplemented(
    message = "the route to this peer cannot send `{M}` to one role",
    note = "the first half of a route to one role must be a `Sink<{M}> + Unpin` whose error is a \
            `std::error::Error + Send + Sync`"
)]
pub trait Outgoing<M>: Link {
    /// Waits until the route can take a message. Fails if the other end is gone or the transport
    /// failed; no message is lost.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RouteError>>;

    /// Takes a message, after a successful [`poll_ready`](Outgoing::poll_ready). Fails if the other
    /// end is gone or the transport failed; the message is lost.
    fn start_send(&mut self, message: M) -> Result<(), RouteError>;

    /// Waits until the messages taken are on their way, because the role may wait for the answer
    /// next. Fails if the other end is gone or the transport failed.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RouteError>>;

    /// Does all three in turn, for an action of a session. Takes the label out once the route is
    /// ready and converts it with `upcast`. If the action fails and the label is still there, it
    /// was not sent.
    #[inline]
    fn poll_send<L>(
        &mut self,
        label: &mut Option<L>,
        upcast: impl FnOnce(L) -> M,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), RouteError>> {
        if label.is_some() {
            ready!(self.poll_ready(context))?;
            if let Some(label) = label.take() {
                self.start_send(upcast(label))?;
            }
        }
        self.poll_flush(context)
    }
}

/// A route that can receive messages of type `M`.
#[diagnostic::on_unimplemented(
    message = "the route to this peer cannot receive `{M}` from one role",
    note = "the second half of a route to one role must be a `Stream + Unpin` of `{M}` or of `Result<{M}, E>`"
)]
pub trait Incoming<M: 'static>: Link {
    /// Waits for the next message. Fails if the other end is gone and nothing is left in the queue,
    /// or if the transport failed.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<M, RouteError>>;

    /// Receives the next message if it is wanted. If not, returns `None` and leaves the message in
    /// place. A choice among peers uses this, because one peer may be ahead of the others.
    ///
    /// If `waits` is false, a later message need not wake the task as long as the route is not
    /// [idle](Incoming::is_idle): the role first looks for messages of other peers.
    ///
    /// The default is [`poll_receive`](Incoming::poll_receive), for routes that cannot look ahead.
    /// An unwanted message then ends the session with an error.
    fn receive_if(
        &mut self,
        waits: bool,
        is_wanted: impl Fn(&M) -> bool,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<M>, RouteError>> {
        let _ = (waits, is_wanted);
        self.poll_receive(context).map_ok(Some)
    }

    /// Returns true if a receive would wait: there is neither a wanted message nor an error. The
    /// default, for routes that cannot look ahead, is that it would. Only a [watched](crate::watch)
    /// role asks.
    #[doc(hidden)]
    fn is_empty(&mut self, _is_wanted: impl Fn(&M) -> bool, _context: &mut Context<'_>) -> bool {
        true
    }

    /// Returns true if the last attempt to receive found nothing and the next message will wake
    /// `waker`. Returns false right after an attempt that [waits](Incoming::receive_if) if the
    /// waker is woken in any case.
    fn is_idle(&self, waker: &Waker) -> bool {
        let _ = waker;
        true
    }

    /// Returns true if it is known that nothing has come since the last attempt to receive, and the
    /// next message will wake `waker`. A gather then does not look again.
    #[doc(hidden)]
    fn is_known_idle(&self, _waker: &Waker) -> bool {
        false
    }

    /// Returns true if `error` means that the peer has left in order, after completing the session
    /// that this end is in. A choice among peers then waits for the others.
    fn has_left(&self, error: &RouteError) -> bool {
        error.left().is_some_and(|left| left.0 > self.mark().completed())
    }
}

/// An item of a route's stream: a message, or a result if the transport can fail.
#[diagnostic::on_unimplemented(
    message = "a stream of `{Self}` does not yield `{M}`",
    note = "a route's stream yields `{M}` or `Result<{M}, E>` with an error that is `Send + Sync`"
)]
pub trait Arrival<M> {
    /// Returns the message, or the error of the transport.
    fn into_message(self) -> Result<M, BoxError>;
}

impl<M> Arrival<M> for M {
    #[inline]
    fn into_message(self) -> Result<M, BoxError> {
        Ok(self)
    }
}

impl<M, E: Into<BoxError>> Arrival<M> for Result<M, E> {
    #[inline]
    fn into_message(self) -> Result<M, BoxError> {
        self.map_err(Into::into)
    }
}

/// The other end of a queue is gone, or this end was closed.
///
/// A session takes this error, or its counterpart in `futures::channel::mpsc`, to mean that its
/// peer has [closed](RouteError::Closed) the route. Any other error is a failure of the transport.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Disconnected;

impl fmt::Display for Disconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other end of the queue is gone")
    }
}

impl std::error::Error for Disconnected {}

/// The role at the other end has left in order, after completing this many sessions.
///
/// A stream that ends with this error (whenever it is polled) tells a choice among peers that it
/// [may wait for the others](Incoming::has_left). Everywhere else the peer counts as
/// [gone](RouteError::Closed).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Left(pub usize);

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the role at the other end has left after completing {} sessions", self.0)
    }
}

impl std::error::Error for Left {}
