use std::any::{Any, TypeId};
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use futures_channel::mpsc;
use futures_core::Stream;
use futures_sink::Sink;

use super::capacity::{Capacity, KnownRoom};
use super::link::{Arrival, Disconnected, Incoming, Left, Link, Movable, Outgoing, RouteError};
use super::mark::Mark;
use crate::channel::{self, QueueReceiver, QueueSender};
use crate::error::BoxError;
use crate::seal::ByMacro;

/// A route made of a sink and a stream.
///
/// ```
/// # use rumpsteak_doctests::rumpsteak;
/// use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
/// use rumpsteak::transport::{Bidirectional, Nil};
///
/// let (tx, _) = mpsc::unbounded::<u8>();
/// let only_sends = Bidirectional::new(tx, Nil);
/// assert!(!only_sends.is_closed());
/// ```
///
/// A sink or stream that is not `Unpin` goes in as a `Pin<Box<_>>`.
// Each action uses the halves, so they come first.
#[repr(C)]
pub struct Bidirectional<Tx, Rx> {
    /// `None` once the route is closed: dropping both halves wakes the peer.
    halves: Option<(Tx, Rx)>,
    mark: Mark,
    abilities: fn() -> (Half<Tx>, Half<Rx>),
}

/// The abilities of a half of a route that a sink or stream lacks.
#[doc(hidden)]
#[derive(Debug)]
pub struct Half<T> {
    /// Looks ahead, for a half that receives.
    pub look: Option<Look<T>>,
    /// Begins a session, for a half that sends: [`Link::poll_begin`].
    pub poll_begin: fn(&mut T, usize, &Waker) -> Poll<()>,
    /// The sessions that the peer has completed, for a half that sends: [`Link::peer_completed`].
    pub completed: fn(&T) -> usize,
    /// Tells the end of a session, for a half that sends: [`Link::end`].
    pub end: fn(&mut T, usize),
    /// Completes a session later, for a half that receives: [`Link::poll_end`].
    pub poll_end: fn(&mut T, usize, &Waker) -> Poll<()>,
    /// Ends a session, for a half that receives: [`Link::complete`].
    pub complete: fn(&mut T, usize),
    /// Returns true if this half [keeps sessions apart](Link::keeps_sessions_apart).
    pub keeps_sessions_apart: fn(&T) -> bool,
}

impl<T> Half<T> {
    /// The abilities of a plain sink or stream.
    pub const PLAIN: Self = Self {
        look: None,
        poll_begin: |_, _, _| Poll::Ready(()),
        completed: |_| 0,
        end: |_, _| {},
        poll_end: |_, _, _| Poll::Ready(()),
        complete: |_, _| {},
        keeps_sessions_apart: |_| false,
    };
}

/// Returns true if the half's next message, which stays in place, is wanted, or if the half has
/// ended. Waits if there is neither.
type Look<Rx> = fn(&mut Rx, &dyn Fn(&dyn Any) -> bool, &Context<'_>) -> Poll<bool>;

impl<Tx, Rx> Bidirectional<Tx, Rx> {
    /// A route that sends into `tx` and receives from `rx`.
    pub fn new(tx: Tx, rx: Rx) -> Self {
        Self::of_halves(Some((tx, rx)), || (Half::PLAIN, Half::PLAIN), ByMacro(()))
    }

    /// A route that sends into a sink with room for `capacity` messages. A role refuses to begin
    /// its first session if the route [declares](crate::guide::channels) more.
    ///
    /// ```
    /// # use rumpsteak_doctests::rumpsteak;
    /// use futures::channel::mpsc;
    /// use rumpsteak::transport::{Bidirectional, Nil};
    ///
    /// const ROOM: usize = 4;
    /// let (tx, _) = mpsc::channel::<u8>(ROOM);
    /// let only_sends = Bidirectional::bounded(tx, Nil, ROOM);
    /// # drop(only_sends);
    /// ```
    pub fn bounded(tx: Tx, rx: Rx, capacity: usize) -> Self {
        let mut this = Self::new(tx, rx);
        this.mark.capacity = u32::try_from(capacity).map_or(0, |most| most.saturating_add(1));
        this
    }

    /// A route of these halves with their abilities.
    #[doc(hidden)]
    #[inline]
    pub fn of_halves(
        halves: Option<(Tx, Rx)>,
        abilities: fn() -> (Half<Tx>, Half<Rx>),
        _: ByMacro,
    ) -> Self {
        Self { halves, mark: Mark::new(), abilities }
    }

    /// Returns true if this end was closed, because a session over it was aborted.
    pub fn is_closed(&self) -> bool {
        self.halves.is_none()
    }

    /// The two halves of a route that is unused and not closed. After a session, its messages could
    /// still be in them, and a route made of them would count its sessions from 0 again.
    pub fn into_inner(mut self) -> Option<(Tx, Rx)> {
        let is_used = self.mark.in_session() || self.mark.completed() > 0;
        self.halves.take().filter(|_| !is_used)
    }

    /// The two halves, even in the middle of a session. Used by `rumpsteak-net`.
    #[doc(hidden)]
    pub fn into_halves(mut self, _: ByMacro) -> Option<(Tx, Rx)> {
        self.halves.take()
    }

    /// Replaces the halves of a route that is unused.
    pub(super) fn replace(&mut self, halves: (Tx, Rx), abilities: fn() -> (Half<Tx>, Half<Rx>)) {
        (self.halves, self.abilities) = (Some(halves), abilities);
    }

    /// Drops both halves, in order unless a session has not ended.
    fn leave(&mut self) {
        let completed = if self.mark.in_session() { 0 } else { self.mark.completed() };
        channel::leave(&mut self.halves, completed);
    }
}

impl<Tx, Rx> Drop for Bidirectional<Tx, Rx> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl_debug!([Tx, Rx] Bidirectional<Tx, Rx>, "closed": |it| it.is_closed(), "in_session": |it| it.mark.in_session());

impl<Tx: 'static, Rx: 'static> Link for Bidirectional<Tx, Rx> {
    const TELLS_ENDS: bool = true;

    #[inline]
    fn mark(&self) -> &Mark {
        &self.mark
    }

    fn close(&mut self) {
        self.leave();
    }

    fn capacity<M: 'static>(&self) -> Option<usize> {
        let tx: &dyn Any = self.halves.as_ref().map(|(tx, _)| tx)?;
        match tx.downcast_ref::<QueueSender<M>>().map(|queue| queue.queue().capacity) {
            Some(Capacity::AtMost(most) | Capacity::Waits(most)) => Some(most),
            Some(Capacity::Growable) => None,
            None => self.mark.capacity.checked_sub(1).map(|most| most as usize),
        }
    }

    #[inline]
    fn poll_begin<M: 'static>(&mut self, session: usize, waker: &Waker) -> Poll<()> {
        // These type tests are constant at compile time, as all below.
        if TypeId::of::<Tx>() == TypeId::of::<Nil>() {
            return Poll::Ready(());
        }
        let Some((tx, _)) = &mut self.halves else { return Poll::Ready(()) };
        let any: &mut dyn Any = tx;
        match any.downcast_mut::<QueueSender<M>>() {
            Some(queue) => queue.poll_begin(session, waker),
            None => ((self.abilities)().0.poll_begin)(tx, session, waker),
        }
    }

    #[inline]
    fn complete<M: 'static>(&mut self, sessions: usize) {
        if TypeId::of::<Rx>() == TypeId::of::<Nil>() {
            return;
        }
        let Some((_, rx)) = &mut self.halves else { return };
        let any: &mut dyn Any = rx;
        match any.downcast_mut::<QueueReceiver<M>>() {
            Some(queue) => queue.complete(sessions),
            None => ((self.abilities)().1.complete)(rx, sessions),
        }
    }

    fn peer_completed<M: 'static>(&self) -> usize {
        let Some((tx, _)) = &self.halves else { return 0 };
        let queue = (tx as &dyn Any).downcast_ref::<QueueSender<M>>();
        queue.map_or_else(|| ((self.abilities)().0.completed)(tx), QueueSender::completed)
    }

    fn end<M: 'static>(&mut self, sessions: usize) {
        let Some((tx, _)) = &mut self.halves else { return };
        match (tx as &mut dyn Any).downcast_mut::<QueueSender<M>>() {
            Some(queue) => queue.end(sessions),
            None => ((self.abilities)().0.end)(tx, sessions),
        }
    }

    fn poll_end<M: 'static>(&mut self, sessions: usize, waker: &Waker) -> Poll<()> {
        let Some((_, rx)) = &mut self.halves else { return Poll::Ready(()) };
        match (rx as &mut dyn Any).downcast_mut::<QueueReceiver<M>>() {
            Some(queue) => queue.poll_end(sessions, drop, waker),
            None => ((self.abilities)().1.poll_end)(rx, sessions, waker),
        }
    }

    #[inline]
    fn keeps_sessions_apart<M: 'static>(&self) -> bool {
        TypeId::of::<Rx>() == TypeId::of::<QueueReceiver<M>>()
            || self
                .halves
                .as_ref()
                .is_none_or(|(_, rx)| ((self.abilities)().1.keeps_sessions_apart)(rx))
    }
}

impl<Tx: 'static, Rx: 'static> Movable for Bidirectional<Tx, Rx> {
    fn take(&mut self) -> Self {
        Self { halves: self.halves.take(), mark: self.mark.take(), abilities: self.abilities }
    }
}

#[diagnostic::do_not_recommend]
impl<M, Tx, Rx: 'static> Outgoing<M> for Bidirectional<Tx, Rx>
where
    Tx: Sink<M, Error: Into<BoxError>> + Unpin + 'static,
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
        if let Some(sent) = label.take() {
            match tx.as_mut().poll_ready(context) {
                Poll::Ready(Ok(())) => tx.as_mut().start_send(upcast(sent)).map_err(classify)?,
                not_ready => {
                    *label = Some(sent);
                    return not_ready.map_err(classify);
                }
            }
        }
        tx.poll_flush(context).map_err(classify)
    }
}

#[diagnostic::do_not_recommend]
impl<M: 'static, Tx: 'static, Rx> Incoming<M> for Bidirectional<Tx, Rx>
where
    Rx: Stream<Item: Arrival<M>> + Unpin + 'static,
{
    // Inlined into the process, which matches on the result at once. Otherwise the result would go
    // through memory.
    #[inline(always)]
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<M, RouteError>> {
        let (_, rx) = self.halves.as_mut().ok_or(RouteError::Closed)?;
        Poll::Ready(match ready!(Pin::new(rx).poll_next(context)) {
            Some(arrival) => arrival.into_message().map_err(classify),
            None => Err(RouteError::Closed),
        })
    }

    #[inline(always)]
    fn receive_if(
        &mut self,
        waits: bool,
        is_wanted: impl Fn(&M) -> bool,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<M>, RouteError>> {
        let (_, rx) = self.halves.as_mut().ok_or(RouteError::Closed)?;
        // Constant at compile time.
        let any: &mut dyn Any = rx;
        if let Some(queue) = any.downcast_mut::<QueueReceiver<M>>() {
            let next = ready!(queue.poll_if(waits, is_wanted, context));
            return Poll::Ready(next.ok_or(RouteError::Closed));
        }
        if let Some(look) = (self.abilities)().1.look {
            let is_wanted = |message: &dyn Any| message.downcast_ref().is_none_or(&is_wanted);
            if !ready!(look(rx, &is_wanted, context)) {
                return Poll::Ready(Ok(None));
            }
        }
        self.poll_receive(context).map_ok(Some)
    }

    fn is_empty(&mut self, is_wanted: impl Fn(&M) -> bool, context: &mut Context<'_>) -> bool {
        let Some((_, rx)) = &mut self.halves else { return false };
        let is_found = Cell::new(false);
        // Every message is left in place.
        let find = |message: &M| {
            is_found.set(is_wanted(message));
            false
        };
        let any: &mut dyn Any = rx;
        let is_ready = if let Some(queue) = any.downcast_mut::<QueueReceiver<M>>() {
            queue.poll_if(false, find, context).map(|next| next.is_none())
        } else if let Some(look) = (self.abilities)().1.look {
            look(rx, &|message| message.downcast_ref().is_none_or(find), context)
        } else {
            Poll::Pending
        };
        // The route has ended or failed, or there is a message.
        !is_found.get() && is_ready != Poll::Ready(true)
    }

    #[inline(always)]
    fn is_idle(&self, waker: &Waker) -> bool {
        self.queue::<M>().is_none_or(|queue| queue.is_parked(waker))
    }

    #[inline(always)]
    fn is_known_idle(&self, waker: &Waker) -> bool {
        self.queue::<M>().is_some_and(|queue| queue.is_parked(waker))
    }

    fn has_left(&self, error: &RouteError) -> bool {
        let ended = || self.queue::<M>().map(|queue| Left(queue.left_after()));
        let left = error.left().copied().or_else(ended);
        left.is_some_and(|left| left.0 > self.mark.completed())
    }
}

impl<Tx, Rx: 'static> Bidirectional<Tx, Rx> {
    /// The queue that the route receives from, if it is a queue of this crate. Only such a queue
    /// can tell what a poll would find. Constant at compile time.
    #[inline(always)]
    fn queue<M: 'static>(&self) -> Option<&QueueReceiver<M>> {
        let rx: &dyn Any = self.halves.as_ref().map(|(_, rx)| rx)?;
        rx.downcast_ref()
    }
}

/// Distinguishes a closed peer from a failed transport. The sink is generic, so the error can only
/// be recognised by its type.
#[cold]
fn classify(error: impl Into<BoxError>) -> RouteError {
    let error = error.into();
    match error.downcast_ref::<mpsc::SendError>() {
        Some(error) if error.is_disconnected() => RouteError::Closed,
        None if error.is::<Disconnected>() => RouteError::Closed,
        _ => RouteError::Transport(error),
    }
}

#[diagnostic::do_not_recommend]
impl<Tx: KnownRoom<P>, Rx, P> KnownRoom<P> for Bidirectional<Tx, Rx> {}

#[diagnostic::do_not_recommend]
impl<P> KnownRoom<P> for Nil {}

/// A missing half, for a route that only sends or only receives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nil;
