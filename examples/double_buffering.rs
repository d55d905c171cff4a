//! Double buffering (PPoPP'22, Listings 1 to 3): a kernel asks a source for a value, then waits
//! until the sink is ready and hands the value on.
//!
//! `cargo run -p rumpsteak-examples --example double_buffering`
//!
//! With `--features unsafe-reordering` there is another kernel, which receives a value before it
//! has asked for one. The build refuses it, at the offending token.

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};
use tokio::sync::oneshot;

#[derive(Roles)]
pub struct Roles {
    pub s: S,
    pub k: K,
    pub t: T,
}

#[derive(Role)]
#[protocol(DoubleBuffering::s)]
#[message(Label)]
pub struct S {
    #[route(K)]
    k: Channel<Label>,
}

#[derive(Role)]
#[protocol(DoubleBuffering::k)]
#[message(Label)]
pub struct K {
    #[route(S)]
    s: Channel<Label>,
    #[route(T)]
    t: Channel<Label>,
}

#[derive(Role)]
#[protocol(DoubleBuffering::t)]
#[message(Label)]
pub struct T {
    #[route(K)]
    k: Channel<Label>,
}

#[derive(Message)]
pub enum Label {
    Ready(Ready),
    Value(Value),
}

pub struct Ready;
pub struct Value(pub i32);

#[session(S)]
pub type Source = SourceLoop;

#[session]
pub struct SourceLoop(Receive<K, Ready, Send<K, Value, Self>>);

#[session(K)]
pub type Kernel = KernelLoop;

#[session]
pub struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);

#[cfg(feature = "unsafe-reordering")]
#[session(K)]
type UnsafeKernel = UnsafeLoop;

#[cfg(feature = "unsafe-reordering")]
#[session]
struct UnsafeLoop(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);

#[session(T)]
pub type Sink = SinkLoop;

#[session]
pub struct SinkLoop(Send<K, Ready, Receive<K, Value, Self>>);

pub async fn source(role: &mut S) -> Result<Infallible> {
    try_run(role, async |mut session: Source<'_>| {
        for value in 1.. {
            let (Ready, next) = session.receive().await?;
            println!("source: sends {value}");
            session = next.send(Value(value)).await?;
        }
        unreachable!("the source has no last value")
    })
    .await
}

async fn kernel(role: &mut K) -> Result<Infallible> {
    try_run(role, async |session: Kernel<'_>| pass_on(session).await).await
}

/// What the kernel does for ever, and also the one of `optimised_double_buffering.rs`.
pub async fn pass_on<T>(mut session: KernelLoop<'_, K>) -> Result<T> {
    loop {
        let (Value(value), next) = session.send(Ready).await?.receive().await?;
        let (Ready, next) = next.receive().await?;
        println!("kernel: passes {value} on");
        session = next.send(Value(value)).await?;
    }
}

pub async fn sink(role: &mut T, count: i32, done: oneshot::Sender<i32>) -> Result<Infallible> {
    try_run(role, async |mut session: Sink<'_>| {
        let mut sum = 0;
        let mut done = Some(done);
        for received in 1.. {
            let (Value(value), next) = session.send(Ready).await?.receive().await?;
            println!("sink:   receives {value}");
            sum += value;
            if received == count
                && let Some(done) = done.take()
            {
                // The protocol goes on for ever; the program stops when it has seen enough.
                let _ = done.send(sum);
            }
            session = next;
        }
        unreachable!("the sink has no last value")
    })
    .await
}

/// The sum of the first five values that the sink receives.
pub async fn run() -> Result<i32> {
    let Roles { mut s, mut k, mut t } = Roles::default();
    let (done, finished) = oneshot::channel();
    let all = async { tokio::try_join!(source(&mut s), kernel(&mut k), sink(&mut t, 5, done)) };
    tokio::select! {
        stopped = all => match stopped?.0 {},
        Ok(sum) = finished => Ok(sum),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 1 + 2 + 3 + 4 + 5)
}
