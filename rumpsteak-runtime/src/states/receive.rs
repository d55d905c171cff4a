use std::fmt;
use std::future::poll_fn;

use super::{Names, Session, State, failed, poll_accept, unexpected};
use crate::error::{Action, Result};
use crate::message::Message;
use crate::private::{Structure, fingerprint};
use crate::role::{Role, Route};
use crate::route::Incoming;

/// Receives the label `L` from the role `P`, then continues as `C`.
///
/// In a session type it is written `Receive<P, L, C>`: `#[session]` inserts the lifetime of the
/// session and its role `R`.
#[must_use = "the session stops here, and the role is poisoned, unless you `receive`"]
pub struct Receive<'s, R: Role, P, L, C> {
    state: State<'s, R>,
    names: Names<(P, L, C)>,
}

impl<'s, R: Role, P, L, C> Receive<'s, R, P, L, C> {
    /// Waits for the label and returns it with the next state.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`](crate::Error::Closed) if the peer is gone and has left nothing in the
    /// queue, [`Error::Transport`](crate::Error::Transport) if the transport failed,
    /// [`Error::Unexpected`](crate::Error::Unexpected) if another label came, which peers of the
    /// same verified protocol never send.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe, like every action of a session: dropping the future drops the state, so the
    /// role is poisoned and its peers wake with [`Error::Closed`](crate::Error::Closed). A timeout
    /// around a `receive` therefore ends the session.
    pub async fn receive(self) -> Result<(L, C)>
    where
        R: Route<P, Link: Incoming<R::Message>, Message: Message<L>>,
        P: Role,
        C: Session<State = State<'s, R>>,
    {
        let Self { state, .. } = self;
        let labels = const { &[<R::Message as Message<L>>::NAME] };
        let message = match poll_fn(|context| poll_accept::<R, P>(state.role, context)).await {
            Ok(message) => message,
            Err(error) => return Err(failed::<R, P>(error, Action::Receive(labels))),
        };
        match message.downcast() {
            Ok(label) => Ok((label, C::from_state(state))),
            Err(message) => Err(unexpected::<R, P>(&message, labels)),
        }
    }
}

impl<'s, R: Role, P, L, C> Session for Receive<'s, R, P, L, C> {
    type State = State<'s, R>;

    fn from_state(state: State<'s, R>) -> Self {
        Self {
            state,
            names: Names::default(),
        }
    }
}

impl<R, P, L, C> Structure for Receive<'_, R, P, L, C>
where
    R: Role<Message: Message<L>>,
    P: Role,
    C: Structure,
{
    const FINGERPRINT: u64 = fingerprint::receive(
        P::PROTOCOL,
        P::NAME,
        <R::Message as Message<L>>::NAME,
        C::FINGERPRINT,
    );
}

impl<R, P, L, C> fmt::Debug for Receive<'_, R, P, L, C>
where
    R: Role<Message: Message<L>>,
    P: Role,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receive")
            .field("role", &self.state)
            .field("peer", &P::NAME)
            .field("label", &<R::Message as Message<L>>::NAME)
            .finish()
    }
}
