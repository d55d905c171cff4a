//! The optimised kernel over `rumpsteak` 0.1; the other processes are in `rumpsteak-benches`.

use rumpsteak::{End, Receive, Result, Send, try_session};
use rumpsteak_benches::original::double_buffering::{Copy, K, Ready, S, T};

type Optimised<'s> =
    Send<'s, K, S, Ready, Send<'s, K, S, Ready, Receive<'s, K, S, Copy, Passing<'s>>>>;

type Passing<'s> = Receive<
    's,
    K,
    T,
    Ready,
    Send<
        's,
        K,
        T,
        Copy,
        Receive<'s, K, S, Copy, Receive<'s, K, T, Ready, Send<'s, K, T, Copy, End<'s>>>>,
    >,
>;

/// Asks for both buffers at once.
pub(super) async fn optimised_kernel(role: &mut K) -> Result<()> {
    try_session(role, |s: Optimised<'_>| async {
        let (copy, s) = s.send(Ready)?.send(Ready)?.receive().await?;
        let (Ready, s) = s.receive().await?;
        let (next, s) = s.send(copy)?.receive().await?;
        let (Ready, s) = s.receive().await?;
        Ok(((), s.send(next)?))
    })
    .await
}
