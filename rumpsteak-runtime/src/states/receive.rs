use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::action::poll_label;
use super::choice::ReceiveOrReceiveEach;
use super::implement::state_with_label;
use super::state::{Names, Session, State};
use crate::error::Result;
use crate::message::Message;
use crate::role::{Role, Route};
use crate::transport::Incoming;

/// Receives the label `L` from the role `P`, then continues as `C`.
///
/// In a session type it is written `Receive<P, L, C>`. The macro inserts the session's lifetime and
/// its role `R`.
#[must_use = "the session stops here, and the role is poisoned, unless you `receive`"]
pub struct Receive<'s, R: Role, P, L, C> {
    state: State<'s, R>,
    names: Names<(P, L, C)>,
}

impl<'s, R: Role, P: ReceiveOrReceiveEach, L, C> Receive<'s, R, P, L, C> {
    /// Waits for the label and returns it with the next state.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed) if the peer is gone and the queue is empty,
    /// [`ErrorKind::Transport`](crate::ErrorKind::Transport) if the transport failed,
    /// [`ErrorKind::Unexpected`](crate::ErrorKind::Unexpected) if another label came, which peers
    /// verified together never send.
    ///
    /// # Cancel safety
    ///
    /// As [`Send::send`](super::Send::send): dropping the future gives up the session. After a
    /// timeout around a `receive`, let the process return an error. Polling by reference is cancel
    /// safe: see [`Receiving`].
    #[inline]
    pub fn receive(self) -> Receiving<'s, R, P, L, C>
    where
        R: Route<P, Link: Incoming<R::Message>, Message: Message<L>>,
        C: Session<State = State<'s, R>>,
    {
        Receiving { state: self.state, names: PhantomData }
    }
}

/// The future of [`Receive::receive`]. It is cancel safe like [`Sending`](super::Sending): only the
/// poll that returns a message takes it from the route. It panics if it is polled again after that.
#[must_use = "nothing is received, and the role is poisoned, unless you `await` the future"]
pub struct Receiving<'s, R: Role, P, L, C> {
    /// [Taken](State::take) once completed.
    state: State<'s, R>,
    names: Names<(P, L, C)>,
}

impl<'s, R, P, L, C> Future for Receiving<'s, R, P, L, C>
where
    R: Route<P, Link: Incoming<R::Message>, Message: Message<L>>,
    P: Role,
    C: Session<State = State<'s, R>>,
{
    type Output = Result<(L, C)>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(L, C)>> {
        match poll_label::<R, P, L>(&mut self.get_mut().state, context) {
            Poll::Ready(Ok((label, state))) => Poll::Ready(Ok((label, C::from_state(state)))),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

state_with_label!(Receive, RECEIVE: Receive, Receiving);
