use std::fmt;
use std::future::poll_fn;

use super::{Names, Session, State, poll_transmit, unsent};
use crate::error::{Result, Unsent};
use crate::message::Message;
use crate::private::{Structure, fingerprint};
use crate::role::{Role, Route};
use crate::route::Outgoing;

/// Sends the label `L` to the role `P`, then continues as `C`.
///
/// In a session type it is written `Send<P, L, C>`: `#[session]` inserts the lifetime of the
/// session and its role `R`.
#[must_use = "the session stops here, and the role is poisoned, unless you `send`"]
pub struct Send<'s, R: Role, P, L, C> {
    state: State<'s, R>,
    names: Names<(P, L, C)>,
}

// The bounds stand on the methods: so rustc tells which one fails, not just that there is no such
// method.
impl<'s, R: Role, P, L, C> Send<'s, R, P, L, C> {
    /// Sends `label` and returns the next state.
    ///
    /// Over a [`Channel`](crate::Channel) this never waits.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`](crate::Error::Closed) if the peer is gone,
    /// [`Error::Transport`](crate::Error::Transport) if the transport failed. The label is lost; use [`send_or_return`](Send::send_or_return) to have it back.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe, like every action of a session: dropping the future drops the state, so the
    /// role is poisoned and its peers wake with [`Error::Closed`](crate::Error::Closed). The label
    /// may or may not have been sent.
    pub async fn send(self, label: L) -> Result<C>
    where
        R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
        P: Role,
        C: Session<State = State<'s, R>>,
    {
        let Self { state, .. } = self;
        let mut label = Some(label);
        match poll_fn(|context| poll_transmit::<R, P, L>(state.role, &mut label, context)).await {
            Ok(()) => Ok(C::from_state(state)),
            Err(error) => Err(unsent::<R, P, L>(error)),
        }
    }

    /// Sends `label` as [`send`](Send::send) does, and returns it if it could not be sent.
    ///
    /// # Errors
    ///
    /// As `send`. The label is returned unless the transport failed after taking it.
    ///
    /// # Cancel safety
    ///
    /// As `send`; a label whose future is dropped is not returned.
    pub async fn send_or_return(self, label: L) -> Result<C, Unsent<L>>
    where
        R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
        P: Role,
        C: Session<State = State<'s, R>>,
    {
        let Self { state, .. } = self;
        let mut label = Some(label);
        match poll_fn(|context| poll_transmit::<R, P, L>(state.role, &mut label, context)).await {
            Ok(()) => Ok(C::from_state(state)),
            Err(error) => Err(Unsent {
                error: unsent::<R, P, L>(error),
                label,
            }),
        }
    }
}

impl<'s, R: Role, P, L, C> Session for Send<'s, R, P, L, C> {
    type State = State<'s, R>;

    fn from_state(state: State<'s, R>) -> Self {
        Self {
            state,
            names: Names::default(),
        }
    }
}

impl<R, P, L, C> Structure for Send<'_, R, P, L, C>
where
    R: Role<Message: Message<L>>,
    P: Role,
    C: Structure,
{
    const FINGERPRINT: u64 = fingerprint::send(
        P::PROTOCOL,
        P::NAME,
        <R::Message as Message<L>>::NAME,
        C::FINGERPRINT,
    );
}

impl<R, P, L, C> fmt::Debug for Send<'_, R, P, L, C>
where
    R: Role<Message: Message<L>>,
    P: Role,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Send")
            .field("role", &self.state)
            .field("peer", &P::NAME)
            .field("label", &<R::Message as Message<L>>::NAME)
            .finish()
    }
}
