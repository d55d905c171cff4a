//! The protocol `Ring`: three roles, no end, and a message type that is its only label.

use std::convert::Infallible;

use rumpsteak_runtime::channel::{Receiver, Sender};
use rumpsteak_runtime::{Message, Result, Role, Roles, session, try_run};

/// All roles. Their routes have one direction each.
#[derive(Debug, Roles)]
pub struct Roles {
    /// The first.
    pub x: X,
    /// The second.
    pub y: Y,
    /// The third.
    pub z: Z,
}

/// The first.
#[derive(Debug, Role)]
#[protocol(Ring::x)]
#[message(Label)]
pub struct X {
    #[route(Z)]
    before: Receiver<Label>,
    #[route(Y)]
    after: Sender<Label>,
}

/// The second.
#[derive(Debug, Role)]
#[protocol(Ring::y)]
#[message(Label)]
pub struct Y {
    #[route(X)]
    before: Receiver<Label>,
    #[route(Z)]
    after: Sender<Label>,
}

/// The third.
#[derive(Debug, Role)]
#[protocol(Ring::z)]
#[message(Label)]
pub struct Z {
    #[route(Y)]
    before: Receiver<Label>,
    #[route(X)]
    after: Sender<Label>,
}

/// What they say.
#[derive(Debug, Message)]
pub enum Label {
    /// The token.
    Token(Token),
}

/// The token, and how many hops it has made.
#[derive(Debug)]
pub struct Token(pub u64);

/// What `x` does.
#[session(X)]
pub struct First(Send<Y, Token, Receive<Z, Token, Self>>);

/// What `y` does.
#[session(Y)]
pub struct Second(Receive<X, Token, Send<Z, Token, Self>>);

/// What `z` does.
#[session(Z)]
pub struct Third(Receive<Y, Token, Send<X, Token, Self>>);

/// Sends a token round until it has made `hops`, then fails with the number of hops that it really
/// made.
///
/// # Errors
///
/// The number of hops, or the error of the session: a session without an end has no other way out.
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

/// Passes the token on for ever.
///
/// # Errors
///
/// Those of the session.
pub async fn second(role: &mut Y) -> Result<Infallible> {
    try_run(role, async |mut s: Second<'_>| {
        loop {
            let (Token(token), next) = s.receive().await?;
            s = next.send(Token(token + 1)).await?;
        }
    })
    .await
}

/// Passes the token on for ever, in the words of the papers.
///
/// # Errors
///
/// Those of the session.
pub async fn third(role: &mut Z) -> Result<Infallible> {
    try_run(role, |mut s: Third<'_>| async {
        loop {
            let (Token(token), next) = s.into_session().receive().await?;
            s = next.send(Token(token + 1)).await?;
        }
    })
    .await
}

/// Why the first role stopped.
#[derive(Debug)]
pub enum Stopped {
    /// After so many hops.
    After(u64),
    /// Because its session failed.
    Failed(rumpsteak_runtime::Error),
}

impl From<rumpsteak_runtime::Error> for Stopped {
    fn from(error: rumpsteak_runtime::Error) -> Self {
        Self::Failed(error)
    }
}
