//! Over this project's runtime. A pause stands where the source has made a buffer and where the
//! kernel has worked on one.

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

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
    k: Channel<Label>,
}

/// The kernel.
#[derive(Debug, Role)]
#[protocol(Buffers::k)]
#[message(Label)]
pub struct K {
    #[route(S)]
    s: Channel<Label>,
    #[route(T)]
    t: Channel<Label>,
}

/// The sink.
#[derive(Debug, Role)]
#[protocol(Buffers::t)]
#[message(Label)]
pub struct T {
    #[route(K)]
    k: Channel<Label>,
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

/// Asks for the second buffer when it has the first.
#[session(K)]
type WeakKernel = Send<S, Ready, Receive<S, Copy, Send<S, Ready, Passing>>>;

/// Asks for both buffers at once.
#[session(K)]
type OptimisedKernel = Send<S, Ready, Send<S, Ready, Receive<S, Copy, Passing>>>;

/// Passes the first on, then the second, which it has asked for already.
#[session]
type Passing =
    Receive<T, Ready, Send<T, Copy, Receive<S, Copy, Receive<T, Ready, Send<T, Copy, End>>>>>;

#[session(T)]
type Sink = Send<K, Ready, Receive<K, Copy, Send<K, Ready, Receive<K, Copy, End>>>>;

/// Sends a copy of each buffer.
///
/// # Errors
///
/// Those of the session.
pub async fn source<F: Future<Output = ()>>(
    role: &mut S,
    buffers: [&[i32]; 2],
    pause: impl Fn() -> F,
) -> Result<()> {
    try_run(role, async |s: Source<'_>| {
        let (Ready, s) = s.receive().await?;
        pause().await;
        let s = s.send(Copy(buffers[0].to_vec())).await?;
        let (Ready, s) = s.receive().await?;
        pause().await;
        Ok(((), s.send(Copy(buffers[1].to_vec())).await?))
    })
    .await
}

/// Asks for a buffer and passes it on, twice.
///
/// # Errors
///
/// Those of the session.
pub async fn kernel<F: Future<Output = ()>>(role: &mut K, pause: impl Fn() -> F) -> Result<()> {
    try_run(role, async |s: Kernel<'_>| {
        let (copy, s) = s.send(Ready).await?.receive().await?;
        pause().await;
        let (Ready, s) = s.receive().await?;
        let s = s.send(copy).await?.send(Ready).await?;
        let (copy, s) = s.receive().await?;
        pause().await;
        let (Ready, s) = s.receive().await?;
        Ok(((), s.send(copy).await?))
    })
    .await
}

/// Asks for the second buffer when it has the first and has worked on it: the order of each pair of
/// roles is kept.
///
/// # Errors
///
/// Those of the session.
pub async fn weak_kernel<F: Future<Output = ()>>(
    role: &mut K,
    pause: impl Fn() -> F,
) -> Result<()> {
    try_run(role, async |s: WeakKernel<'_>| {
        let (copy, s) = s.send(Ready).await?.receive().await?;
        pause().await;
        let (Ready, s) = s.send(Ready).await?.receive().await?;
        let (next, s) = s.send(copy).await?.receive().await?;
        pause().await;
        let (Ready, s) = s.receive().await?;
        Ok(((), s.send(next).await?))
    })
    .await
}

/// Asks for both buffers at once: the source fills the second while the first is worked on.
///
/// # Errors
///
/// Those of the session.
pub async fn optimised_kernel<F: Future<Output = ()>>(
    role: &mut K,
    pause: impl Fn() -> F,
) -> Result<()> {
    try_run(role, async |s: OptimisedKernel<'_>| {
        let s = s.send(Ready).await?.send(Ready).await?;
        let (copy, s) = s.receive().await?;
        pause().await;
        let (Ready, s) = s.receive().await?;
        let (next, s) = s.send(copy).await?.receive().await?;
        pause().await;
        let (Ready, s) = s.receive().await?;
        Ok(((), s.send(next).await?))
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
