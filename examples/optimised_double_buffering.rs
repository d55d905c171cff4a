//! Double buffering with a kernel that asks for the second value before it has passed on the first
//! (PPoPP'22, Fig. 4b), so that the source never waits. The source and the sink are the same as in
//! `double_buffering.rs`.
//!
//! `cargo run -p rumpsteak-examples --example optimised_double_buffering`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(DoubleBuffering)]
pub mod double_buffering {
    #[session(K)]
    type Kernel = Send<S, Ready, Loop>;
    struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
}
use double_buffering::*;

async fn source(mut session: SSession<'_>) -> Ended<'_, S, Infallible> {
    for value in 1.. {
        let (Ready, next) = session.receive().await?;
        println!("source: sends {value}");
        session = next.send(Value(value)).await?;
    }
    unreachable!("the source has no last value")
}

async fn kernel(session: Kernel<'_>) -> Ended<'_, K, Infallible> {
    let mut session = session.send(Ready).await?;
    loop {
        let (Value(value), next) = session.send(Ready).await?.receive().await?;
        let (Ready, next) = next.receive().await?;
        println!("kernel: passes {value} on");
        session = next.send(Value(value)).await?;
    }
}

/// Reports the sum of the first five values.
async fn sink(mut session: TSession<'_>, done: oneshot::Sender<i32>) -> Ended<'_, T, Infallible> {
    let mut sum = 0;
    for _ in 0..5 {
        let (Value(value), next) = session.send(Ready).await?.receive().await?;
        println!("sink:   receives {value}");
        sum += value;
        session = next;
    }
    // The protocol never ends. The program stops when it has seen enough.
    let _ = done.send(sum);
    std::future::pending().await
}

/// The sum of the first five values that the sink receives.
pub async fn run() -> Result<i32> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    tokio::select! {
        stopped = roles.run(source, kernel, |t| sink(t, done)) => match stopped?.0 {},
        Ok(sum) = finished => Ok(sum),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 1 + 2 + 3 + 4 + 5)
}
