use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::action::{poll_accept, unexpected};
use super::choice::{AnyPeer, BranchOrBranchEach, Choice, DrainOrDrainEach, Peer};
use super::implement::state_with_choice;
use super::receive_any::{Peers, receive_any};
use super::state::{Names, Session, State};
use crate::error::Result;
use crate::role::{Role, Route};
use crate::transport::Incoming;

/// Receives one of the labels of the choice `C` from the role `P`: an external choice.
///
/// In a session type it is written `Branch<P, C>`, where `C` is an enum of the module. The process
/// matches on it, and rustc checks that it handles every label.
///
/// `Branch<C>` receives from any of several peers, and each variant of `C` names one:
/// `FromA(Receive<A, Done, End>)`. The first message counts, from any of them. If several peers
/// have sent something, they take turns: with `n` peers, a message waits for at most `n - 1`
/// others.
#[must_use = "the session stops here, and the role is poisoned, unless you `branch`"]
pub struct Branch<'s, R: Role, P, C> {
    state: State<'s, R>,
    names: Names<(P, C)>,
}

impl<'s, R: Role, P: BranchOrBranchEach, C> Branch<'s, R, P, C> {
    /// Waits for a label and returns its variant of the choice, which holds the label and the next
    /// state. Errors and cancel safety are as in [`Receive::receive`](super::Receive::receive),
    /// with any label of the choice.
    #[inline]
    pub fn branch(self) -> Branching<'s, R, P, C>
    where
        R: Route<P, Link: Incoming<R::Message>>,
        C: Choice<State = State<'s, R>, Message = R::Message>,
    {
        const { C::VERIFIED };
        Branching { state: self.state, names: PhantomData }
    }
}

impl<'s, R: Role, P: DrainOrDrainEach, C> Branch<'s, R, P, C>
where
    C: Choice<State = State<'s, R>, Message = R::Message>,
    C: Drains<R::Message, Rest: Session<State = State<'s, R>>>,
{
    /// Receives and drops messages until one comes that leads on, and drops it too. Returns the
    /// session behind it. For the messages that are in flight when a block is interrupted.
    ///
    /// Errors and cancel safety are as in [`branch`](Self::branch), for each message.
    pub async fn drain(self) -> Result<C::Rest>
    where
        R: Route<P, Link: Incoming<R::Message>>,
    {
        const { C::VERIFIED };
        let mut state = self.state;
        loop {
            let accepted = poll_fn(|context| poll_accept::<R, P>(&mut state, C::LABELS, context));
            let (message, next) = accepted.await?;
            match C::leads_on(&message) {
                Some(false) => state = next,
                Some(true) => return Ok(C::Rest::from_state(next)),
                None => return Err(unexpected(next, <P as Role>::NAME, message, C::LABELS)),
            }
        }
    }
}

/// A choice whose options all lead back to the state that receives it, or to one other session. The
/// macro of a module implements it.
#[diagnostic::on_unimplemented(
    message = "the session goes on in different ways after the options of `{Self}`",
    label = "`branch`, and match on the options"
)]
pub trait Drains<M> {
    /// The other session.
    type Rest;

    /// True if a message leads to the other session. `None` if no option receives it.
    #[doc(hidden)]
    fn leads_on(message: &M) -> Option<bool>;
}

impl<'s, R: Role, C> Branch<'s, R, AnyPeer, C> {
    /// Waits for a message from any of the peers and returns its variant of the choice, which holds
    /// the label and the next state: `FromA(Done, s)`.
    ///
    /// # Errors
    ///
    /// As [`Receive::receive`](super::Receive::receive) for any of the peers, if no other peer has
    /// sent anything. A peer that was dropped after its session had ended does not fail the choice
    /// while another one may send. [`Channel`](crate::Channel)s and routes to other processes can
    /// tell. Over streams that do not end with [`Left`](crate::transport::Left), keep the peer
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

/// The future of [`Branch::branch`]. It is cancel safe like [`Receiving`](super::Receiving), and
/// panics if it is polled after it has completed.
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
        receive_any::<R, C::Peers, C>(&mut self.get_mut().state, true, context)
    }
}

state_with_choice!(Branch, BRANCH: Branch, Branching);
