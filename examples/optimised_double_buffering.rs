//! Double buffering with a kernel that asks for the second value before it has handed on the first
//! (PPoPP'22, Fig. 4b), so that the source is never kept waiting. Everything else is as in
//! `double_buffering.rs`.
//!
//! `cargo run -p rumpsteak-examples --example optimised_double_buffering`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak_runtime::{Result, session, try_run};
use tokio::sync::oneshot;

#[allow(dead_code, reason = "its kernel, and the program")]
#[path = "double_buffering.rs"]
pub mod plain;

use plain::{K, KernelLoop, Ready, Roles, S, pass_on, sink, source};

#[session(K)]
pub type OptimisedKernel = Send<S, Ready, KernelLoop>;

async fn optimised_kernel(role: &mut K) -> Result<Infallible> {
    try_run(role, async |session: OptimisedKernel<'_>| pass_on(session.send(Ready).await?).await)
        .await
}

/// The sum of the first five values that the sink receives.
pub async fn run() -> Result<i32> {
    let Roles { mut s, mut k, mut t } = Roles::default();
    let (done, finished) = oneshot::channel();
    let all =
        async { tokio::try_join!(source(&mut s), optimised_kernel(&mut k), sink(&mut t, 5, done)) };
    tokio::select! {
        stopped = all => match stopped?.0 {},
        Ok(sum) = finished => Ok(sum),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 1 + 2 + 3 + 4 + 5)
}
