use std::fmt;
use std::future::poll_fn;

use super::{Choice, Names, Session, State, failed, poll_accept, unexpected};
use crate::error::{Action, Result};
use crate::private::{Structure, fingerprint};
use crate::role::{Role, Route};
use crate::route::Incoming;

/// Receives one of the labels of the choice `C` from the role `P`: an external choice.
///
/// In a session type it is written `Branch<P, C>`, where `C` is an enum with `#[session]`. The
/// process matches on it, and Rust makes sure that it handles every label.
#[must_use = "the session stops here, and the role is poisoned, unless you `branch`"]
pub struct Branch<'s, R: Role, P, C> {
    state: State<'s, R>,
    names: Names<(P, C)>,
}

impl<'s, R: Role, P, C> Branch<'s, R, P, C> {
    /// Waits for a label and returns the variant of the choice that it selects, which holds the
    /// label and the next state.
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
    /// role is poisoned and its peers wake with [`Error::Closed`](crate::Error::Closed).
    pub async fn branch(self) -> Result<C>
    where
        R: Route<P, Link: Incoming<R::Message>>,
        P: Role,
        C: Choice<State = State<'s, R>, Message = R::Message>,
    {
        const { C::VERIFIED };
        let Self { state, .. } = self;
        let message = match poll_fn(|context| poll_accept::<R, P>(state.role, context)).await {
            Ok(message) => message,
            Err(error) => return Err(failed::<R, P>(error, Action::Receive(C::LABELS))),
        };
        C::decide(state, message).map_err(|message| unexpected::<R, P>(&message, C::LABELS))
    }
}

impl<'s, R: Role, P, C> Session for Branch<'s, R, P, C> {
    type State = State<'s, R>;

    fn from_state(state: State<'s, R>) -> Self {
        Self {
            state,
            names: Names::default(),
        }
    }
}

impl<R, P, C> Structure for Branch<'_, R, P, C>
where
    R: Role,
    P: Role,
    C: Structure,
{
    const FINGERPRINT: u64 = fingerprint::branch(P::PROTOCOL, P::NAME, C::FINGERPRINT);
}

impl<R: Role, P: Role, C: Choice> fmt::Debug for Branch<'_, R, P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Branch")
            .field("role", &self.state)
            .field("peer", &P::NAME)
            .field("labels", &C::LABELS)
            .finish()
    }
}
