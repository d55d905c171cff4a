use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::action::poll_transmit;
use super::choice::SendOrSendEach;
use super::implement::state_with_label;
use super::state::{Names, Session, State};
use crate::error::{Result, Unsent};
use crate::message::Message;
use crate::role::{Role, Route};
use crate::transport::Outgoing;

/// Sends the label `L` to the role `P`, then continues as `C`.
///
/// In a session type it is written `Send<P, L, C>`. The macro inserts the session's lifetime and
/// its role `R`.
#[must_use = "the session stops here, and the role is poisoned, unless you `send`"]
pub struct Send<'s, R: Role, P, L, C> {
    state: State<'s, R>,
    names: Names<(P, L, C)>,
}

// Other bounds are on the methods, so that rustc reports the failing bound, not a missing method.
impl<'s, R: Role, P: SendOrSendEach, L, C> Send<'s, R, P, L, C> {
    /// Sends `label` and returns the next state.
    ///
    /// Over a [`Channel`](crate::Channel) this only waits if [waiting was proven
    /// safe](crate::guide::channels). Nothing is sent before the future is polled.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed) if the peer is gone,
    /// [`ErrorKind::Transport`](crate::ErrorKind::Transport) if the transport failed. The label is
    /// lost; use [`send_or_return`](Send::send_or_return) to get it back.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the state, so the session cannot end: once its process has
    /// returned, the role is poisoned and its peers wake with
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed). The label may or may not have been sent.
    /// Polling by reference is cancel safe: see [`Sending`].
    #[inline]
    pub fn send(self, label: L) -> Sending<'s, R, P, L, C>
    where
        R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
        C: Session<State = State<'s, R>>,
    {
        Sending { state: self.state, label: Some(label), names: PhantomData }
    }

    /// Sends `label` like [`send`](Send::send), and returns it if it could not be sent, unless the
    /// transport failed after taking it. A label is not returned if its future is dropped.
    #[inline]
    pub fn send_or_return(self, label: L) -> Returning<'s, R, P, L, C>
    where
        R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
        C: Session<State = State<'s, R>>,
    {
        Returning { sending: self.send(label) }
    }
}

/// The future of [`Send::send`] and [`Select::select`](crate::states::Select::select).
///
/// # Cancel safety
///
/// It owns the state, so dropping it before it completes gives up the session. If it may lose a
/// race, as in `select!`, poll it by reference (it is `Unpin`) and await it later: nothing is lost
/// or sent twice. It panics if it is polled after it has completed.
#[must_use = "nothing is sent, and the role is poisoned, unless you `await` the future"]
pub struct Sending<'s, R: Role, P, L, C> {
    /// [Taken](State::take) once completed.
    pub(super) state: State<'s, R>,
    /// `None` once the route has taken the label.
    pub(super) label: Option<L>,
    pub(super) names: Names<(P, C)>,
}

// It is never pinned: the label is only moved.
impl<R: Role, P, L, C> Unpin for Sending<'_, R, P, L, C> {}

/// A state that can follow the label `L` sent from `R` to `P`. This one bound has all that sending
/// needs, so rustc reports once what is missing.
#[diagnostic::on_unimplemented(
    message = "`{R}` cannot send `{L}` to `{P}` with this call",
    label = "if `{P}` is a family, call the method with `_each` or `_one`; if not, its route must send"
)]
pub trait Follows<'s, R: Role, P, L>: Sized {
    #[doc(hidden)]
    fn poll_send(
        sending: &mut Sending<'s, R, P, L, Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self>>;
}

#[diagnostic::do_not_recommend]
impl<'s, R, P, L, C> Follows<'s, R, P, L> for C
where
    R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
    P: Role,
    C: Session<State = State<'s, R>>,
{
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll_send(
        sending: &mut Sending<'s, R, P, L, C>,
        context: &mut Context<'_>,
    ) -> Poll<Result<C>> {
        match poll_transmit::<R, P, L>(&mut sending.state, &mut sending.label, context) {
            Poll::Ready(Ok(state)) => Poll::Ready(Ok(C::from_state(state))),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<'s, R: Role, P, L, C: Follows<'s, R, P, L>> Future for Sending<'s, R, P, L, C> {
    type Output = Result<C>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<C>> {
        C::poll_send(self.get_mut(), context)
    }
}

/// The future of [`Send::send_or_return`] and
/// [`Select::select_or_return`](crate::states::Select::select_or_return). It is cancel safe like
/// [`Sending`], and panics if it is polled after it has completed.
#[must_use = "nothing is sent, and the role is poisoned, unless you `await` the future"]
pub struct Returning<'s, R: Role, P, L, C> {
    pub(super) sending: Sending<'s, R, P, L, C>,
}

impl<'s, R: Role, P, L, C: Follows<'s, R, P, L>> Future for Returning<'s, R, P, L, C> {
    type Output = Result<C, Unsent<L>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<C, Unsent<L>>> {
        let sending = &mut self.get_mut().sending;
        let sent = C::poll_send(sending, context);
        sent.map_err(|error| Unsent { error, label: sending.label.take() })
    }
}

state_with_label!(Send, SEND: Send, Sending);

impl_debug!([R: Role<Message: Message<L>>, P: Role, L, C] Returning<'_, R, P, L, C>, "sending": |it| it.sending);
