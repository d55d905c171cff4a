//! Routes: what connects two roles.
//!
//! A route is any pair of a [`Sink`] and a [`Stream`] in a [`Bidirectional`], with [`Nil`] for a
//! half that is not needed. The verification assumes what PPoPP'22 §2 assumes: each direction of a
//! route is a first-in first-out queue that loses nothing and never refuses a message for want of
//! room. [`Channel`](crate::Channel) is such a queue in memory. A bounded queue makes a sender wait,
//! and waiting senders can deadlock where the verified session would not: a `Channel` is bounded
//! only where the build script has proven that they do not. Give a queue of your own room for all
//! messages that can be under way at once.
//!
//! A transport that is neither a sink nor a stream can implement [`Link`], [`Outgoing`] and
//! [`Incoming`] itself.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{Sink, Stream};

use crate::channel::{Disconnected, Queue};
use crate::error::BoxError;

/// Why a route failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum RouteError {
    /// The other end is gone.
    Closed,
    /// The transport failed.
    Transport(BoxError),
}

/// A route, in whatever direction. It carries the mark by which a role knows that a session did not
/// end.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a route",
    label = "not a route",
    note = "use `Channel<M>`, or wrap a sink and a stream: `Bidirectional<Tx, Rx>`, with `Nil` for a half that is not needed"
)]
pub trait Link {
    /// Whether a session uses the route, or did so and never ended.
    fn in_session(&self) -> bool;

    /// Sets what [`in_session`](Link::in_session) answers.
    fn set_in_session(&mut self, in_session: bool);

    /// Closes the route for good, so that the peer wakes up when it waits for it.
    fn close(&mut self);
}

/// A route that can send messages of type `M`.
#[diagnostic::on_unimplemented(
    message = "the route `{Self}` cannot send `{M}`",
    label = "this route cannot send `{M}`",
    note = "its first half must be a `Sink<{M}> + Unpin` whose error is a `std::error::Error + Send + Sync`"
)]
pub trait Outgoing<M>: Link {
    /// Waits until the route can take a message.
    ///
    /// # Errors
    ///
    /// When the other end is gone or the transport failed; no message has been taken.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RouteError>>;

    /// Takes a message. Must follow a successful [`poll_ready`](Outgoing::poll_ready).
    ///
    /// # Errors
    ///
    /// When the other end is gone or the transport failed; the message is lost.
    fn start_send(&mut self, message: M) -> Result<(), RouteError>;

    /// Waits until the messages taken are on their way: a session may wait for the answer next.
    ///
    /// # Errors
    ///
    /// When the other end is gone or the transport failed.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RouteError>>;

    /// All three in turn: what an action of a session does. The label is taken out once the route is
    /// ready for it, and made a message by `upcast`.
    ///
    /// # Errors
    ///
    /// Those of the three; the label has not been taken if it is still there.
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
    /// Waits for the next message.
    ///
    /// # Errors
    ///
    /// When the other end is gone and nothing is left in the queue, or when the transport failed.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<M, RouteError>>;
}

/// What the stream of a route may yield: messages, or results of messages where the transport can
/// fail.
#[diagnostic::on_unimplemented(
    message = "a stream of `{Self}` does not yield `{M}`",
    note = "a route's stream yields `{M}` or `Result<{M}, E>` with an error that is `Send + Sync`"
)]
pub trait Arrival<M> {
    /// The message.
    ///
    /// # Errors
    ///
    /// The transport's own.
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

/// A route made of a sink and a stream.
///
/// ```
/// use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
/// use rumpsteak_runtime::{Bidirectional, Nil};
///
/// let (tx, _) = mpsc::unbounded::<u8>();
/// let only_sends = Bidirectional::new(tx, Nil);
/// assert!(!only_sends.is_closed());
/// ```
///
/// A sink or stream that is not `Unpin` goes in as a `Pin<Box<_>>`.
pub struct Bidirectional<Tx, Rx> {
    /// `None` once the route is closed: dropping both halves is what wakes the peer.
    halves: Option<(Tx, Rx)>,
    in_session: bool,
}

impl<Tx, Rx> Bidirectional<Tx, Rx> {
    /// A route that sends into `tx` and receives from `rx`.
    pub fn new(tx: Tx, rx: Rx) -> Self {
        Self {
            halves: Some((tx, rx)),
            in_session: false,
        }
    }

    /// Whether this end was closed, because a session over it was aborted.
    pub fn is_closed(&self) -> bool {
        self.halves.is_none()
    }

    /// The two halves, unless this end was closed.
    pub fn into_inner(self) -> Option<(Tx, Rx)> {
        self.halves
    }
}

impl<Tx, Rx> fmt::Debug for Bidirectional<Tx, Rx> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bidirectional")
            .field("closed", &self.is_closed())
            .field("in_session", &self.in_session)
            .finish_non_exhaustive()
    }
}

impl<Tx, Rx> Link for Bidirectional<Tx, Rx> {
    fn in_session(&self) -> bool {
        self.in_session
    }

    fn set_in_session(&mut self, in_session: bool) {
        self.in_session = in_session;
    }

    fn close(&mut self) {
        self.halves = None;
    }
}

#[diagnostic::do_not_recommend]
impl<M, Tx, Rx> Outgoing<M> for Bidirectional<Tx, Rx>
where
    Tx: Sink<M, Error: Into<BoxError>> + Unpin,
{
    #[inline]
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
        let (tx, _) = self.halves.as_mut().ok_or(RouteError::Closed)?;
        Pin::new(tx).poll_ready(context).map_err(classify)
    }

    #[inline]
    fn start_send(&mut self, message: M) -> Result<(), RouteError> {
        let (tx, _) = self.halves.as_mut().ok_or(RouteError::Closed)?;
        Pin::new(tx).start_send(message).map_err(classify)
    }

    #[inline]
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
        let (tx, _) = self.halves.as_mut().ok_or(RouteError::Closed)?;
        Pin::new(tx).poll_flush(context).map_err(classify)
    }

    #[inline(always)]
    fn poll_send<L>(
        &mut self,
        label: &mut Option<L>,
        upcast: impl FnOnce(L) -> M,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), RouteError>> {
        let (tx, _) = self.halves.as_mut().ok_or(RouteError::Closed)?;
        let mut tx = Pin::new(tx);
        if label.is_some() {
            ready!(tx.as_mut().poll_ready(context)).map_err(classify)?;
            if let Some(label) = label.take() {
                tx.as_mut().start_send(upcast(label)).map_err(classify)?;
            }
        }
        tx.poll_flush(context).map_err(classify)
    }
}

#[diagnostic::do_not_recommend]
impl<M, Tx, Rx> Incoming<M> for Bidirectional<Tx, Rx>
where
    Rx: Stream<Item: Arrival<M>> + Unpin,
{
    // Into the process, where its result is matched on at once: it would go through memory otherwise.
    #[inline(always)]
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<M, RouteError>> {
        let (_, rx) = self.halves.as_mut().ok_or(RouteError::Closed)?;
        Poll::Ready(match ready!(Pin::new(rx).poll_next(context)) {
            Some(arrival) => arrival.into_message().map_err(classify),
            None => Err(RouteError::Closed),
        })
    }
}

/// Tells the end of the peer from a failure of the transport.
///
/// The sink is generic, so the error can only be recognised by its type. This is the cold path.
#[cold]
fn classify(error: impl Into<BoxError>) -> RouteError {
    let error = error.into();
    match error.downcast_ref::<mpsc::SendError>() {
        Some(error) if error.is_disconnected() => RouteError::Closed,
        None if error.is::<Disconnected>() => RouteError::Closed,
        _ => RouteError::Transport(error),
    }
}

/// The missing half of a route that only sends, or only receives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nil;

/// The two ends of a fresh route, of which `Other` is the far one. Used by `#[derive(Roles)]`.
#[diagnostic::on_unimplemented(
    message = "routes of type `{Self}` and `{Other}` do not fit together",
    label = "cannot be created as the two ends of one route",
    note = "`#[derive(Roles)]` pairs `Channel` with `Channel` and `Sender` with `Receiver`, all of one message type; \
            for other transports, build the roles by hand, or implement `Pair` for your own type"
)]
pub trait Pair<Other>: Sized {
    /// Creates both ends.
    #[must_use]
    fn pair() -> (Self, Other);

    /// Creates both ends of a route between two roles: what this end sends, and what it receives.
    ///
    /// `#[derive(Roles)]` calls this with the capacities that the build script proved. A transport
    /// that has no use for them need not implement it: both ends are then those of
    /// [`pair`](Pair::pair).
    #[must_use]
    fn pair_as(sent: Queue, received: Queue) -> (Self, Other) {
        let _ = (sent, received);
        Self::pair()
    }
}

impl<M> Pair<UnboundedReceiver<M>> for UnboundedSender<M> {
    fn pair() -> (Self, UnboundedReceiver<M>) {
        mpsc::unbounded()
    }
}

impl<M> Pair<UnboundedSender<M>> for UnboundedReceiver<M> {
    fn pair() -> (Self, UnboundedSender<M>) {
        let (tx, rx) = mpsc::unbounded();
        (rx, tx)
    }
}

impl Pair<Nil> for Nil {
    fn pair() -> (Self, Nil) {
        (Nil, Nil)
    }
}

#[diagnostic::do_not_recommend]
impl<Tx, Rx, FarTx, FarRx> Pair<Bidirectional<FarTx, FarRx>> for Bidirectional<Tx, Rx>
where
    Tx: Pair<FarRx>,
    Rx: Pair<FarTx>,
{
    fn pair() -> (Self, Bidirectional<FarTx, FarRx>) {
        let (tx, far_rx) = Tx::pair();
        let (rx, far_tx) = Rx::pair();
        (Self::new(tx, rx), Bidirectional::new(far_tx, far_rx))
    }

    fn pair_as(sent: Queue, received: Queue) -> (Self, Bidirectional<FarTx, FarRx>) {
        let (tx, far_rx) = Tx::pair_as(sent, received);
        let (rx, far_tx) = Rx::pair_as(sent, received);
        (Self::new(tx, rx), Bidirectional::new(far_tx, far_rx))
    }
}
