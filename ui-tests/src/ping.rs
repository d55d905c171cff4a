//! The protocol `Ping`: one message and its answer.

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

/// Both roles, wired in the order opposite to that of the protocol.
#[derive(Debug, Roles)]
pub struct Roles {
    /// The server.
    pub s: S,
    /// The client.
    pub c: C,
}

/// The client.
#[derive(Debug, Role)]
#[protocol(Ping::c)]
#[message(Label)]
pub struct C {
    /// To the server.
    #[route(S)]
    pub s: Channel<Label>,
}

/// The server.
#[derive(Debug, Role)]
#[protocol(Ping::s)]
#[message(Label)]
pub struct S {
    /// To the client.
    #[route(C)]
    pub c: Channel<Label>,
}

/// What they say.
#[derive(Debug, Message)]
pub enum Label {
    /// The question.
    Ping(Ping),
    /// The answer.
    Pong(Pong),
}

/// The question.
#[derive(Debug, PartialEq, Eq)]
pub struct Ping(pub i32);

/// The answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Pong(pub i32);

/// What the client does.
#[session(C)]
pub type Client = Send<S, Ping, Receive<S, Pong, End>>;

/// The same session under another name: a team may call it what it is in each place.
#[session(C)]
pub type HealthCheck = Send<S, Ping, Receive<S, Pong, End>>;

/// What the server does.
#[session(S)]
pub type Server = Receive<C, Ping, Send<C, Pong, End>>;

/// Asks, and returns the answer.
///
/// # Errors
///
/// Those of the session.
pub async fn client(role: &mut C, question: i32) -> Result<i32> {
    try_run(role, async |s: Client<'_>| {
        let s = s.send(Ping(question)).await?;
        let (Pong(answer), end) = s.receive().await?;
        Ok((answer, end))
    })
    .await
}

/// Answers with the successor.
///
/// # Errors
///
/// Those of the session.
pub async fn server(role: &mut S) -> Result<()> {
    try_run(role, async |s: Server<'_>| {
        let (Ping(question), s) = s.receive().await?;
        let end = s.send(Pong(question + 1)).await?;
        Ok(((), end))
    })
    .await
}
