//! One lap of a ring of three: what it costs to begin and end a session.

use rumpsteak_runtime::{Result, try_run};

/// The roles, whose routes go in one direction each.
#[rumpsteak_runtime::protocol(Lap)]
mod roles {
    use super::super::{In, Out};

    /// All roles.
    #[derive(Debug, Roles)]
    pub struct Roles {
        /// The first.
        pub a: A,
        /// The second.
        pub b: B,
        /// The third.
        pub c: C,
    }

    /// The first.
    #[derive(Debug, Role)]
    #[message(Token)]
    pub struct A {
        #[route(B)]
        b: Out<Token>,
        #[route(C)]
        c: In<Token>,
    }

    /// The second.
    #[derive(Debug, Role)]
    #[message(Token)]
    pub struct B {
        #[route(A)]
        a: In<Token>,
        #[route(C)]
        c: Out<Token>,
    }

    /// The third.
    #[derive(Debug, Role)]
    #[message(Token)]
    pub struct C {
        #[route(A)]
        a: Out<Token>,
        #[route(B)]
        b: In<Token>,
    }

    /// The only message.
    #[derive(Debug, Message)]
    pub struct Token(pub i32);

    #[session(A)]
    type First = Send<B, Token, Receive<C, Token, End>>;

    #[session(B)]
    type Second = Receive<A, Token, Send<C, Token, End>>;

    #[session(C)]
    type Third = Receive<B, Token, Send<A, Token, End>>;
}
pub use roles::*;

/// Sends a value round.
///
/// # Errors
///
/// If the session fails.
pub async fn first(role: &mut A, value: i32) -> Result<i32> {
    try_run(role, async |s: First<'_>| {
        let (Token(value), end) = s.send(Token(value)).await?.receive().await?;
        Ok((value, end))
    })
    .await
}

/// Passes it on.
///
/// # Errors
///
/// If the session fails.
pub async fn second(role: &mut B) -> Result<()> {
    try_run(role, async |s: Second<'_>| {
        let (token, s) = s.receive().await?;
        Ok(((), s.send(token).await?))
    })
    .await
}

/// Passes it on.
///
/// # Errors
///
/// If the session fails.
pub async fn third(role: &mut C) -> Result<()> {
    try_run(role, async |s: Third<'_>| {
        let (token, s) = s.receive().await?;
        Ok(((), s.send(token).await?))
    })
    .await
}
