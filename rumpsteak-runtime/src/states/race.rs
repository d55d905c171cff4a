use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use super::choice::{AnyPeer, Choice, Offers, Peer, RaceOrUntilEach};
use super::implement::state_with_choice;
use super::receive_any::{Peers, receive_any};
use super::select::Select;
use super::send::Follows;
use super::state::{Names, Session, State};
use crate::error::Result;
use crate::role::Role;

/// Receives one of the labels of the choice `C`, or sends one, whichever comes first: a mixed
/// choice.
///
/// In a session type it is written `Race<C>`, where `C` is an enum of the module whose variants are
/// sessions that begin with `Send` or `Receive`. With it a role can interrupt its peers.
#[must_use = "the session stops here, and the role is poisoned, unless you `race`"]
pub struct Race<'s, R: Role, P, C> {
    state: State<'s, R>,
    names: Names<(P, C)>,
}

/// The outcome of [`Race::race`].
#[derive(Debug)]
pub enum Raced<C, S> {
    /// A message was received: its variant of the choice.
    Heard(C),
    /// The wish completed first, and its label was sent. This is the next state.
    Sent(S),
}

/// The outcome of [`Race::until`].
#[derive(Debug)]
pub enum Until<C, T, S> {
    /// A message was received: its variant of the choice.
    Heard(C),
    /// The wish completed first. Its value, and the state in which a label is selected now.
    Wished(T, S),
}

impl<'s, R: Role, C: Choice<Peers: RaceOrUntilEach>> Race<'s, R, AnyPeer, C> {
    /// Waits for a message, as [`Branch::branch`](super::Branch::branch) does, and for the future
    /// `wish`. If `wish` completes first, sends its label, as
    /// [`Select::select`](super::Select::select) does.
    ///
    /// A message that is already there wins. Where no option of the type comes, `wish` must
    /// complete, or everyone waits: the proof assumes that the role then sends. `wish` is dropped
    /// when a message wins, so it should be cancel safe, as a timer is: see the
    /// [guide](crate::guide::interrupts).
    /// Its errors are those of `branch` and `select`.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future poisons the role once its process has returned. Polling it by reference,
    /// once it is pinned, is cancel safe.
    pub async fn race<P, L>(
        self,
        wish: impl Future<Output = L>,
    ) -> Result<Raced<C, <C as Offers<L, P>>::Then>>
    where
        C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>
            + Offers<L, P, Then: Follows<'s, R, P, L>>,
    {
        Ok(match self.until(wish).await? {
            Until::Heard(heard) => Raced::Heard(heard),
            Until::Wished(label, s) => Raced::Sent(s.select(label).await?),
        })
    }

    /// Waits for a message, as [`Branch::branch`](super::Branch::branch) does, and for the future
    /// `wish`. If `wish` completes first, the role then selects what to send, which may depend on
    /// the value. Errors are as in `branch`, and cancel safety is as in [`race`](Self::race).
    pub async fn until<T>(
        self,
        wish: impl Future<Output = T>,
    ) -> Result<Until<C, T, Select<'s, R, AnyPeer, C>>>
    where
        C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
    {
        const {
            _ = C::VERIFIED;
            assert!(C::Peers::COUNT > 0, "no option of this choice receives");
        }
        let mut state = self.state;
        let mut wish = pin!(wish);
        let first =
            poll_fn(|context| match receive_any::<R, C::Peers, C>(&mut state, false, context) {
                Poll::Ready(heard) => Poll::Ready(Err(heard)),
                Poll::Pending => wish.as_mut().poll(context).map(Ok),
            });
        match first.await {
            Err(heard) => heard.map(Until::Heard),
            Ok(it) => Ok(Until::Wished(it, Select::from_state(state))),
        }
    }
}

state_with_choice!(Race, RACE: Race);
