//! The protocol `Ping`: one message and its answer.

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(Ping, derive(PartialEq, Eq))]
mod protocol {
    /// Both roles, wired in the opposite order of the protocol.
    #[derive(Roles)]
    struct Roles {
        /// The server.
        s: S,
        /// The client.
        c: C,
    }

    /// The session of the client.
    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, End>>;

    /// The same session under another name.
    #[session(C)]
    type HealthCheck = Send<S, Ping, Receive<S, Pong, End>>;

    /// The session of the server.
    #[session(S)]
    type Server = Receive<C, Ping, Send<C, Pong, End>>;
}
pub use protocol::*;

/// Asks, and returns the answer.
///
/// # Errors
///
/// The errors of the session.
pub async fn client(role: &mut C, question: i32) -> Result<i32> {
    try_run(role, async |s: Client<'_>| {
        let (Pong(answer), end) = s.send(Ping(question)).await?.receive().await?;
        Ok((answer, end))
    })
    .await
}

/// Answers with the successor.
///
/// # Errors
///
/// The errors of the session.
pub async fn server(role: &mut S) -> Result<()> {
    try_run(role, async |s: Server<'_>| {
        let (Ping(question), s) = s.receive().await?;
        Ok(((), s.send(Pong(question + 1)).await?))
    })
    .await
}
