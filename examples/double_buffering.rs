//! Double buffering (PPoPP'22, Listings 1 to 3): a kernel asks a source for a value, then waits
//! until the sink is ready and passes the value on.
//!
//! `cargo run -p rumpsteak-examples --example double_buffering`
//!
//! The module has the listings of the paper. Only the session of the kernel is necessary; all other
//! items could be generated. With `--features unsafe-reordering` there is another kernel, which
//! receives a value before it has asked for one. The build refuses it, at the offending token.

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(DoubleBuffering)]
pub mod double_buffering {
    #[derive(Roles)]
    struct Roles {
        s: S,
        k: K,
        t: T,
    }

    #[derive(Role)]
    #[message(Label)]
    struct S {
        #[route(K)]
        k: Channel<Label>,
    }

    #[derive(Role)]
    #[message(Label)]
    struct K {
        #[route(S)]
        s: Channel<Label>,
        #[route(T)]
        t: Channel<Label>,
    }

    #[derive(Role)]
    #[message(Label)]
    struct T {
        #[route(K)]
        k: Channel<Label>,
    }

    #[derive(Message)]
    enum Label {
        Ready(Ready),
        Value(Value),
    }

    struct Ready;
    struct Value(i32);

    #[session(S)]
    struct Source(Receive<K, Ready, Send<K, Value, Self>>);

    #[session(K)]
    struct Kernel(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);

    #[session(T)]
    struct Sink(Send<K, Ready, Receive<K, Value, Self>>);
}
use double_buffering::*;

#[cfg(feature = "unsafe-reordering")]
#[rumpsteak::protocol(DoubleBuffering)]
mod unsafe_reordering {
    #[session(K)]
    struct Kernel(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);
}

async fn source(mut session: Source<'_>) -> Ended<'_, S, Infallible> {
    for value in 1.. {
        let (Ready, next) = session.receive().await?;
        println!("source: sends {value}");
        session = next.send(Value(value)).await?;
    }
    unreachable!("the source has no last value")
}

async fn kernel(mut session: Kernel<'_>) -> Ended<'_, K, Infallible> {
    loop {
        let (Value(value), next) = session.send(Ready).await?.receive().await?;
        let (Ready, next) = next.receive().await?;
        println!("kernel: passes {value} on");
        session = next.send(Value(value)).await?;
    }
}

/// Reports the sum of the first five values.
async fn sink(mut session: Sink<'_>, done: oneshot::Sender<i32>) -> Ended<'_, T, Infallible> {
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
