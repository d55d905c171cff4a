//! What a route can do: the traits that a transport implements.

use std::fmt;
use std::task::{Context, Poll, Waker, ready};

use super::mark::Mark;
use crate::error::BoxError;

/// Why a route failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum RouteError {
    /// The other end is gone.
    Closed,
    /// The transport failed. If the error is [`Left`], it did not: the other end is gone.
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

/// A route in any direction, with its [`Mark`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a route",
    label = "not a route",
    note = "use `Channel<M>`, or wrap a sink and a stream: `Bidirectional<Tx, Rx>`, with `Nil` for a half that is not needed"
)]
pub trait Link {
    /// The mark of the route: always the same one.
    fn mark(&self) -> &Mark;

    /// Closes the route for good, so that the peer wakes up when it waits for it.
    ///
    /// A role closes all its routes in turn, perhaps while a panic unwinds: this must not panic.
    fn close(&mut self);

    /// Begins the session of this number, counted from 0, over a route that [keeps sessions
    /// apart](Self::keeps_sessions_apart). Waits while the peer has not begun the session in which
    /// this end last sent a message to it.
    fn poll_begin<M: 'static>(&mut self, session: usize, waker: &Waker) -> Poll<()>
    where
        Self: Sized + 'static,
    {
        let _ = (session, waker);
        Poll::Ready(())
    }

    /// Ends a session: the role has completed so many, and receives from now on what the peer sends
    /// in the session of this number.
    fn complete<M: 'static>(&mut self, sessions: usize)
    where
        Self: Sized + 'static,
    {
        let _ = sessions;
    }

    /// Returns true if a role never receives from this route a message of a session that it has not
    /// begun. Over other routes a role that hears several peers in one state has one session.
    fn keeps_sessions_apart<M: 'static>(&self) -> bool
    where
        Self: Sized + 'static,
    {
        false
    }
}

/// A route that can be taken from its role in the middle of a session: see
/// [`Detached`](crate::Detached).
#[diagnostic::on_unimplemented(
    message = "a route of type `{Self}` cannot be taken away in the middle of a session",
    note = "use a `Bidirectional`, such as `Channel<M>`, or implement `Movable` for your own transport"
)]
pub trait Movable: Link + Sized {
    /// The route with its [mark](Mark::take). What is left is a route that is closed.
    #[must_use]
    fn take(&mut self) -> Self;
}

/// A route that can send messages of type `M`.
#[diagnostic::on_unimplemented(
    message = "the route `{Self}` cannot send `{M}`",
    label = "this route cannot send `{M}`",
    note = "its first half must be a `Sink<{M}> + Unpin` whose error is a `std::error::Error + Send + Sync`"
)]
pub trait Outgoing<M>: Link {
    /// Waits until the route can take a message. Fails if the other end is gone or the transport
    /// failed; no message has been taken.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RouteError>>;

    /// Takes a message, after a successful [`poll_ready`](Outgoing::poll_ready). Fails if the other
    /// end is gone or the transport failed; the message is lost.
    fn start_send(&mut self, message: M) -> Result<(), RouteError>;

    /// Waits until the messages taken are on their way: a session may wait for the answer next.
    /// Fails if the other end is gone or the transport failed.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RouteError>>;

    /// Does all three in turn, for an action of a session. The label is taken out once the route is
    /// ready for it, and made a message by `upcast`. If the action fails, a label that is still
    /// there was not taken.
    #[inline]
    fn poll_send<L>(
        &mut self,
        label: &mut Option<L>,
        upcast: impl FnOnce(L) -> M,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), RouteError>>
    where
        Self: Sized,
    {
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
    message = "the route `{Self}` cannot receive `{M}`",
    label = "this route cannot receive `{M}`",
    note = "its second half must be a `Stream + Unpin` of `{M}` or of `Result<{M}, E>`"
)]
pub trait Incoming<M>: Link {
    /// Waits for the next message. Fails if the other end is gone and nothing is left in the queue,
    /// or if the transport failed.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<M, RouteError>>;

    /// The next message if it is wanted; `None` if it is not: then it stays the next one, and what
    /// comes need not wake the task. A choice among peers asks so, for one of them may be ahead of
    /// the others. A route that cannot look ahead gives what there is, and a message that is not
    /// wanted ends the session with an error.
    ///
    /// Unless it `waits`, what comes later need not wake the task, as long as the route is not
    /// [idle](Incoming::is_idle): nobody is waited for while another peer has sent something.
    ///
    /// Unless a route can do better, it is [`poll_receive`](Incoming::poll_receive).
    fn receive_if(
        &mut self,
        waits: bool,
        is_wanted: impl Fn(&M) -> bool,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<M>, RouteError>>
    where
        Self: Sized + 'static,
        M: 'static,
    {
        let _ = (waits, is_wanted);
        self.poll_receive(context).map_ok(Some)
    }

    /// Whether whatever comes will wake this waker, since the last attempt to receive found
    /// nothing. If not, right after an attempt that [waits](Incoming::receive_if), the waker is
    /// woken in any case.
    fn is_idle(&self, waker: &Waker) -> bool
    where
        Self: 'static,
        M: 'static,
    {
        let _ = waker;
        true
    }

    /// Whether the route has failed with this error because the peer has left in order, after it
    /// had completed the session that this end is in. A choice among peers then waits for the
    /// others.
    fn has_left(&self, error: &RouteError) -> bool
    where
        Self: 'static,
        M: 'static,
    {
        error.left().is_some_and(|left| left.0 > self.mark().completed())
    }
}

/// What the stream of a route may yield: messages, or results of messages where the transport can
/// fail.
#[diagnostic::on_unimplemented(
    message = "a stream of `{Self}` does not yield `{M}`",
    note = "a route's stream yields `{M}` or `Result<{M}, E>` with an error that is `Send + Sync`"
)]
pub trait Arrival<M> {
    /// The message, or the error of the transport.
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
/// A sink with this error, or one of `futures::channel::mpsc`, tells a session that its peer has
/// [closed](RouteError::Closed) the route; any other error is a failure of the transport.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Disconnected;

impl fmt::Display for Disconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other end of the queue is gone")
    }
}

impl std::error::Error for Disconnected {}

/// The role at the other end has left in order, after it had completed so many sessions.
///
/// A stream that ends with this error, as often as it is polled, tells a choice among peers that it
/// [may wait for the others](Incoming::has_left). To all else the peer is
/// [gone](RouteError::Closed).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Left(pub usize);

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the role at the other end has left, and had completed {} sessions", self.0)
    }
}

impl std::error::Error for Left {}
