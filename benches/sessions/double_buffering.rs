//! Double buffering (PPoPP'22, Listing 1): two buffers, which the kernel copies from the source and
//! passes on to the sink.

use rumpsteak_runtime::{Message, Result, Role, Roles, session, try_run};

use super::Both;

/// All roles.
#[derive(Debug, Roles)]
pub struct Roles {
    /// The source.
    pub s: S,
    /// The kernel.
    pub k: K,
    /// The sink.
    pub t: T,
}

/// The source.
#[derive(Debug, Role)]
#[protocol(Buffers::s)]
#[message(Label)]
pub struct S {
    #[route(K)]
    k: Both<Label>,
}

/// The kernel.
#[derive(Debug, Role)]
#[protocol(Buffers::k)]
#[message(Label)]
pub struct K {
    #[route(S)]
    s: Both<Label>,
    #[route(T)]
    t: Both<Label>,
}

/// The sink.
#[derive(Debug, Role)]
#[protocol(Buffers::t)]
#[message(Label)]
pub struct T {
    #[route(K)]
    k: Both<Label>,
}

/// The messages.
#[derive(Debug, Message)]
pub enum Label {
    /// Asks for a buffer.
    Ready(Ready),
    /// Answers with one.
    Copy(Copy),
}

/// Asks for a buffer.
#[derive(Debug)]
pub struct Ready;
/// A buffer.
#[derive(Debug)]
pub struct Copy(pub Vec<i32>);

#[session(S)]
type Source = Receive<K, Ready, Send<K, Copy, Receive<K, Ready, Send<K, Copy, End>>>>;

#[session(K)]
type Kernel = Send<S, Ready, Receive<S, Copy, Receive<T, Ready, Send<T, Copy, SecondHalf>>>>;

#[session]
type SecondHalf = Send<S, Ready, Receive<S, Copy, Receive<T, Ready, Send<T, Copy, End>>>>;

#[session(T)]
type Sink = Send<K, Ready, Receive<K, Copy, Send<K, Ready, Receive<K, Copy, End>>>>;

/// Sends a copy of each buffer.
///
/// # Errors
///
/// Those of the session.
pub async fn source(role: &mut S, buffers: [&[i32]; 2]) -> Result<()> {
    try_run(role, async |s: Source<'_>| {
        let (Ready, s) = s.receive().await?;
        let s = s.send(Copy(buffers[0].to_vec())).await?;
        let (Ready, s) = s.receive().await?;
        Ok(((), s.send(Copy(buffers[1].to_vec())).await?))
    })
    .await
}

/// Passes both on.
///
/// # Errors
///
/// Those of the session.
pub async fn kernel(role: &mut K) -> Result<()> {
    try_run(role, async |s: Kernel<'_>| {
        let (Copy(first), s) = s.send(Ready).await?.receive().await?;
        let (Ready, s) = s.receive().await?;
        let s = s.send(Copy(first)).await?;
        let (Copy(second), s) = s.send(Ready).await?.receive().await?;
        let (Ready, s) = s.receive().await?;
        Ok(((), s.send(Copy(second)).await?))
    })
    .await
}

/// Receives both.
///
/// # Errors
///
/// Those of the session.
pub async fn sink(role: &mut T) -> Result<[Vec<i32>; 2]> {
    try_run(role, async |s: Sink<'_>| {
        let (Copy(first), s) = s.send(Ready).await?.receive().await?;
        let (Copy(second), s) = s.send(Ready).await?.receive().await?;
        Ok(([first, second], s))
    })
    .await
}
