//! Double buffering (PPoPP'22, Listing 1): two buffers, which the kernel copies from the source and
//! passes on to the sink.

use rumpsteak_runtime::{Result, try_run};

/// The roles, over the route of the module around.
#[rumpsteak_runtime::protocol(Buffers, routes = super::super::Both)]
mod roles {}
use roles::CopyMessage as Copy;
pub use roles::*;

/// Sends a copy of each buffer.
///
/// # Errors
///
/// If the session fails.
pub async fn source(role: &mut S, buffers: [&[i32]; 2]) -> Result<()> {
    try_run(role, async |s: SSession<'_>| {
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
/// If the session fails.
pub async fn kernel(role: &mut K) -> Result<()> {
    try_run(role, async |s: KSession<'_>| {
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
/// If the session fails.
pub async fn sink(role: &mut T) -> Result<[Vec<i32>; 2]> {
    try_run(role, async |s: TSession<'_>| {
        let (Copy(first), s) = s.send(Ready).await?.receive().await?;
        let (Copy(second), s) = s.send(Ready).await?.receive().await?;
        Ok(([first, second], s))
    })
    .await
}
