use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::action::{failed, unexpected};
use super::choice::{AnyPeer, Choice, Peer};
use super::implement::{show, state_with_choice};
use super::receive_any::Peers;
use super::state::{Names, Session, State};
use crate::error::{Action, Result};
use crate::role::Role;
use crate::watch::Way;

/// Receives one message from each of several peers, in any order.
///
/// In a session type it is written `Gather<C>`, where `C` is an enum of the module. Each variant
/// but the last one names a message that is due, and the last one has the session that follows when
/// all have come:
///
/// ```text
/// enum Votes { A(Receive<A, Vote, Self>), B(Receive<B, Vote, Self>), All(Send<A, Done, End>) }
/// ```
///
/// If a peer has several variants, one of its messages is due.
#[must_use = "the session stops here, and the role is poisoned, unless you `gather`"]
pub struct Gather<'s, R: Role, P, C> {
    state: State<'s, R>,
    names: Names<(P, C)>,
}

impl<'s, R: Role, C> Gather<'s, R, AnyPeer, C> {
    /// Returns the set of the messages that are due: all of them.
    ///
    /// ```text
    /// let mut due = s.gather();
    /// let s = loop {
    ///     due = match due.next().await? {
    ///         Votes::A(Vote(vote), due) | Votes::B(Vote(vote), due) => …,
    ///         Votes::All(s) => break s,
    ///     };
    /// };
    /// ```
    #[inline]
    pub fn gather(self) -> Due<'s, R, C>
    where
        C: Gathers<'s, R>,
    {
        const {
            assert!(C::Peers::COUNT <= u64::BITS as usize, "a gather has at most 64 peers");
        };
        // As many bits as there are peers.
        let due = u64::MAX.checked_shr(u64::BITS - C::Peers::COUNT as u32).unwrap_or(0);
        Due { state: self.state, due, names: PhantomData }
    }
}

/// The messages of a [`Gather`] that have not come yet, and the session in which they are due.
#[must_use = "the session stops here, and the role is poisoned, unless you receive the `next` message"]
pub struct Due<'s, R: Role, C> {
    state: State<'s, R>,
    /// The peers whose messages are due, as a bit set.
    due: u64,
    names: Names<C>,
}

impl<'s, R: Role, C: Gathers<'s, R>> Due<'s, R, C> {
    /// Waits for the next message and returns its variant of the enum, which holds the label and
    /// what is still due. Once all have come, returns the last variant, which holds the next state,
    /// without waiting.
    ///
    /// # Errors
    ///
    /// As [`Receive::receive`](super::Receive::receive) for each peer whose message is due.
    ///
    /// # Cancel safety
    ///
    /// As `Receive::receive`: dropping the future drops what is due, so the session cannot end.
    /// Polling by reference is cancel safe: see [`Gathering`].
    #[inline]
    pub fn next(self) -> Gathering<'s, R, C> {
        Gathering { due: self }
    }
}

/// The future of [`Due::next`]. It is cancel safe like [`Receiving`](super::Receiving), and panics
/// if it is polled after it has completed.
#[must_use = "nothing is received, and the role is poisoned, unless you `await` the future"]
pub struct Gathering<'s, R: Role, C> {
    /// Its state is [taken](State::take) once completed.
    due: Due<'s, R, C>,
}

/// The messages of a [`Gather`] of the role `R`. The macro implements it for the enums of gathers.
pub trait Gathers<'s, R: Role + 's>:
    Choice<State = Due<'s, R, Self>, Message = R::Message, Peers: Peers<R>>
{
    /// The session that follows.
    type Rest: Session<State = State<'s, R>>;

    /// Makes the last variant.
    #[doc(hidden)]
    fn all(rest: Self::Rest) -> Self;
}

impl<'s, R: Role, C: Gathers<'s, R>> Future for Gathering<'s, R, C> {
    type Output = Result<C>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<C>> {
        const { C::VERIFIED };
        let Due { state, due, .. } = &mut self.get_mut().due;
        let due = *due;
        if due != 0 {
            state.acts(Way::Receive, C::LABELS, |role| {
                let peers = (0..C::Peers::COUNT).filter(|index| due >> index & 1 == 1);
                (C::Peers::are_empty::<C>(role, due, context), peers.map(C::Peers::name).collect())
            })?;
        }
        let role = state.role()?;
        if due == 0 {
            return Poll::Ready(Ok(C::all(Session::from_state(state.take()))));
        }
        // In the order of the variants: no peer can starve, since each is received from once.
        let found = C::Peers::poll_due(role, due, &mut true, context);
        let Some((index, number, received)) = found else { return Poll::Pending };
        let (state, peer) = (state.take(), C::Peers::name(index as usize));
        Poll::Ready(match received {
            Ok(message) => {
                let due = due & !(1 << index);
                let rest = Due { state, due, names: PhantomData };
                let decided = C::decide(rest, message, number);
                decided.map_err(|(rest, message)| unexpected(rest.state, peer, message, C::LABELS))
            }
            Err(error) => Err(failed(state, peer, error, Action::Receive(C::LABELS))),
        })
    }
}

state_with_choice!(Gather, GATHER: Gather);

impl<'s, R: Role, C: Gathers<'s, R>> fmt::Debug for Due<'s, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::<R, AnyPeer>(f, "Due", &self.state, "labels", &C::LABELS)
    }
}

impl<'s, R: Role, C: Gathers<'s, R>> fmt::Debug for Gathering<'s, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::<R, AnyPeer>(f, "Gathering", &self.due.state, "labels", &C::LABELS)
    }
}
