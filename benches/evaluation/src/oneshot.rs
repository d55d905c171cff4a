//! Sessions over one-shot channels, a peer in COORDINATION'21, Fig. 3: each message carries the
//! channel of the next one.

use futures::channel::oneshot::{self, Receiver, Sender};

use crate::{Error, Result};

/// One end of a binary session.
pub(crate) trait Session: Sized {
    /// The other end.
    type Dual;

    /// Both ends.
    fn pair() -> (Self, Self::Dual);
}

/// Sends a value, then goes on as `C`.
pub(crate) struct Send<T, C: Session>(Sender<(T, C::Dual)>);

/// Receives a value, then goes on as `C`.
pub(crate) struct Receive<T, C>(Receiver<(T, C)>);

/// Nothing follows.
pub(crate) struct End;

impl<T, C: Session> Session for Send<T, C> {
    type Dual = Receive<T, C::Dual>;

    fn pair() -> (Self, Self::Dual) {
        let (sender, receiver) = oneshot::channel();
        (Self(sender), Receive(receiver))
    }
}

impl<T, C: Session> Session for Receive<T, C>
where
    C::Dual: Session<Dual = C>,
{
    type Dual = Send<T, C::Dual>;

    fn pair() -> (Self, Self::Dual) {
        let (sender, receiver) = oneshot::channel();
        (Self(receiver), Send(sender))
    }
}

impl Session for End {
    type Dual = Self;

    fn pair() -> (Self, Self) {
        (Self, Self)
    }
}

impl<T, C: Session> Send<T, C> {
    /// Makes the channel of the next message, and sends it with the value.
    pub(crate) fn send(self, value: T) -> Result<C> {
        let (here, there) = C::pair();
        let sent = self.0.send((value, there));
        sent.map_err(|_| Error::wrong("the peer is gone"))?;
        Ok(here)
    }
}

impl<T, C> Receive<T, C> {
    /// Waits for the value.
    pub(crate) async fn receive(self) -> Result<(T, C)> {
        self.0.await.map_err(Error::wrong)
    }
}
