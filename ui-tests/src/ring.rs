//! The protocol `Ring`: three roles, no end, and a message type that is its only label.

use std::convert::Infallible;

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(Ring)]
mod protocol {
    use rumpsteak::channel::{Receiver, Sender};

    /// The first role. The routes of this protocol have one direction each.
    #[derive(Debug, Role)]
    struct X {
        /// A route.
        #[route(Z)]
        before: Receiver<Label>,
        /// A route.
        #[route(Y)]
        after: Sender<Label>,
    }

    /// The second role.
    #[derive(Debug, Role)]
    struct Y {
        /// A route.
        #[route(X)]
        before: Receiver<Label>,
        /// A route.
        #[route(Z)]
        after: Sender<Label>,
    }

    /// The third role.
    #[derive(Debug, Role)]
    struct Z {
        /// A route.
        #[route(Y)]
        before: Receiver<Label>,
        /// A route.
        #[route(X)]
        after: Sender<Label>,
    }

    /// The session of `x`.
    #[session(X)]
    struct First(Send<Y, Token, Receive<Z, Token, Self>>);

    /// The session of `y`.
    #[session(Y)]
    struct Second(Receive<X, Token, Send<Z, Token, Self>>);

    /// The session of `z`.
    #[session(Z)]
    struct Third(Receive<Y, Token, Send<X, Token, Self>>);
}
pub use protocol::*;

/// Sends a token round until it has made `hops` hops, then fails with the actual number.
///
/// # Errors
///
/// The number of hops, or the errors of the session: a session without an end only ends by one.
pub async fn first(role: &mut X, hops: u64) -> Result<Infallible, Stopped> {
    try_run(role, async |mut s: First<'_>| {
        let mut token = 0;
        loop {
            let next = s.send(Token(token + 1)).await?;
            let (Token(came), next) = next.receive().await?;
            if came >= hops {
                return Err(Stopped::After(came));
            }
            (token, s) = (came, next);
        }
    })
    .await
}

/// Passes the token on forever.
///
/// # Errors
///
/// The errors of the session.
pub async fn second(role: &mut Y) -> Result<Infallible> {
    try_run(role, async |mut s: Second<'_>| {
        loop {
            let (Token(token), next) = s.receive().await?;
            s = next.send(Token(token + 1)).await?;
        }
    })
    .await
}

/// Passes the token on forever, with the names of the papers.
///
/// # Errors
///
/// The errors of the session.
pub async fn third(role: &mut Z) -> Result<Infallible> {
    try_run(role, |mut s: Third<'_>| async {
        loop {
            let (Token(token), next) = s.into_session().receive().await?;
            s = next.send(Token(token + 1)).await?;
        }
    })
    .await
}

/// The reason why the first role stopped.
#[derive(Debug)]
pub enum Stopped {
    /// After so many hops.
    After(u64),
    /// Because its session failed.
    Failed(rumpsteak::Error),
}

impl From<rumpsteak::Error> for Stopped {
    fn from(error: rumpsteak::Error) -> Self {
        Self::Failed(error)
    }
}
