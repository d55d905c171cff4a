use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::action::{poll_accept, unexpected};
use super::choice::{AnyPeer, Choice, Peer};
use super::implement::{show, state_with_choice};
use super::peer::{Peers, hear_any};
use super::state::{Names, Session, State};
use crate::error::Result;
use crate::role::{Role, Route};
use crate::transport::Incoming;

/// Receives one of the labels of the choice `C` from the role `P`: an external choice.
///
/// In a session type it is written `Branch<P, C>`, where `C` is an enum of the module. The
/// process matches on it, and Rust makes sure that it handles every label.
///
/// Among several peers it is written `Branch<C>`, and each variant of `C` names one:
/// `FromA(Receive<A, Done, End>)`. Then the first message counts, whoever sends it. Of several
/// peers that have sent something, it is the turn of one after the other: with `n` peers, one that
/// waits is heard after at most `n - 1` messages of others.
#[must_use = "the session stops here, and the role is poisoned, unless you `branch`"]
pub struct Branch<'s, R: Role, P, C> {
    state: State<'s, R>,
    names: Names<(P, C)>,
}

impl<'s, R: Role, P: Role, C> Branch<'s, R, P, C> {
    /// Waits for a label and returns the variant of the choice that it selects, which holds the
    /// label and the next state. Its errors and its cancel safety are those of
    /// [`Receive::receive`](super::Receive::receive), where any label of the choice may come.
    #[inline]
    pub fn branch(self) -> Branching<'s, R, P, C>
    where
        R: Route<P, Link: Incoming<R::Message>>,
        P: Role,
        C: Choice<State = State<'s, R>, Message = R::Message>,
    {
        const { C::VERIFIED };
        Branching { state: self.state, names: PhantomData }
    }
}

impl<'s, R: Role, C> Branch<'s, R, AnyPeer, C> {
    /// Waits for a message from any of the peers, and returns the variant of the choice that it
    /// selects, which holds the label and the next state. A variant is matched as in a choice of
    /// one peer: `FromA(Done, s)`.
    ///
    /// # Errors
    ///
    /// Those of [`Receive::receive`](super::Receive::receive) for any of the peers, if no other one
    /// has sent anything. A peer whose session has ended, and that was dropped since, is no error
    /// as long as another one may send. [`Channel`](crate::Channel)s and routes to other processes
    /// can tell. Over streams that do not end with [`Left`](crate::transport::Left), keep the peer
    /// until all have ended.
    #[inline]
    pub fn branch(self) -> Branching<'s, R, AnyPeer, C>
    where
        C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
    {
        const { C::VERIFIED };
        Branching { state: self.state, names: PhantomData }
    }
}

/// The future of [`Branch::branch`]: cancel safe as [`Receiving`](super::Receiving), and it panics
/// if it is polled after it has completed.
#[must_use = "nothing is received, and the role is poisoned, unless you `await` the future"]
pub struct Branching<'s, R: Role, P, C> {
    /// [Taken](State::take) once completed.
    state: State<'s, R>,
    names: Names<(P, C)>,
}

impl<'s, R, P, C> Future for Branching<'s, R, P, C>
where
    R: Route<P, Link: Incoming<R::Message>>,
    P: Role,
    C: Choice<State = State<'s, R>, Message = R::Message>,
{
    type Output = Result<C>;

    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<C>> {
        let state = &mut self.get_mut().state;
        let (message, state) = ready!(poll_accept::<R, P>(state, C::LABELS, context))?;
        Poll::Ready(
            C::decide(state, message, P::NUMBER.0).map_err(|(state, message)| {
                unexpected(state, <P as Role>::NAME, message, C::LABELS)
            }),
        )
    }
}

impl<'s, R, C> Future for Branching<'s, R, AnyPeer, C>
where
    R: Role,
    C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
{
    type Output = Result<C>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<C>> {
        hear_any(&mut self.get_mut().state, true, context)
    }
}

state_with_choice!(Branch, BRANCH);

impl<R: Role, P: Peer, C: Choice> fmt::Debug for Branching<'_, R, P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::<R, P>(f, "Branching", "labels", &C::LABELS)
            .field("completed", &self.state.is_taken())
            .finish()
    }
}
