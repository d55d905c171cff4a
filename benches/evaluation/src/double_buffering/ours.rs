//! Over this project's runtime. A pause stands for the work of the source and of the kernel on a
//! buffer.

use rumpsteak_runtime::{Result, try_run};

/// The roles, with three sessions of the kernel.
#[rumpsteak_runtime::protocol(Buffers)]
mod roles {
    #[session(K)]
    type Kernel = Send<
        S,
        Ready,
        Receive<S, CopyMessage, Receive<T, Ready, Send<T, CopyMessage, SecondHalf>>>,
    >;

    type SecondHalf =
        Send<S, Ready, Receive<S, CopyMessage, Receive<T, Ready, Send<T, CopyMessage, End>>>>;

    /// Asks for the second buffer when it has the first.
    #[session(K)]
    type WeakKernel = Send<S, Ready, Receive<S, CopyMessage, Send<S, Ready, Passing>>>;

    /// Asks for both buffers at once.
    #[session(K)]
    type OptimisedKernel = Send<S, Ready, Send<S, Ready, Receive<S, CopyMessage, Passing>>>;

    /// Passes the first buffer on, then the second, which it has already asked for.
    type Passing = Receive<
        T,
        Ready,
        Send<T, CopyMessage, Receive<S, CopyMessage, Receive<T, Ready, Send<T, CopyMessage, End>>>>,
    >;
}
use roles::CopyMessage as Copy;
pub use roles::*;

/// Sends a copy of each buffer.
///
/// # Errors
///
/// If the session fails.
pub async fn source<F: Future<Output = ()>>(
    role: &mut S,
    buffers: [&[i32]; 2],
    pause: impl Fn() -> F,
) -> Result<()> {
    try_run(role, async |s: SSession<'_>| {
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
/// If the session fails.
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
/// If the session fails.
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
/// If the session fails.
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
/// If the session fails.
pub async fn sink(role: &mut T) -> Result<[Vec<i32>; 2]> {
    try_run(role, async |s: TSession<'_>| {
        let (Copy(first), s) = s.send(Ready).await?.receive().await?;
        let (Copy(second), s) = s.send(Ready).await?.receive().await?;
        Ok(([first, second], s))
    })
    .await
}
