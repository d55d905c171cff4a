//! Double buffering (PPoPP'22, Listings 1 to 3): a kernel asks a source for a value, then waits
//! until the sink is ready and hands the value on.
//!
//! `cargo run -p rumpsteak-examples --example double_buffering`
//!
//! With `--features unsafe-reordering` the kernel receives a value before it has asked for one.
//! The build refuses that, at the offending token.

use std::convert::Infallible;

use rumpsteak_runtime::{
    Channel, Message, Receive, Result, Role, Roles, Send, session, try_session,
};
use tokio::sync::oneshot;

#[derive(Roles)]
struct Roles {
    s: S,
    k: K,
    t: T,
}

#[derive(Role)]
#[protocol(DoubleBuffering::s)]
#[message(Label)]
struct S {
    #[route(K)]
    k: Channel<Label>,
}

#[derive(Role)]
#[protocol(DoubleBuffering::k)]
#[message(Label)]
struct K {
    #[route(S)]
    s: Channel<Label>,
    #[route(T)]
    t: Channel<Label>,
}

#[derive(Role)]
#[protocol(DoubleBuffering::t)]
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
type Source = SourceLoop;

#[session]
struct SourceLoop(Receive<K, Ready, Send<K, Value, Self>>);

#[cfg(not(feature = "unsafe-reordering"))]
#[session(K)]
type Kernel = KernelLoop;

#[cfg(not(feature = "unsafe-reordering"))]
#[session]
struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);

#[cfg(feature = "unsafe-reordering")]
#[session(K)]
type Kernel = KernelLoop;

#[cfg(feature = "unsafe-reordering")]
#[session]
struct KernelLoop(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);

#[session(T)]
type Sink = SinkLoop;

#[session]
struct SinkLoop(Send<K, Ready, Receive<K, Value, Self>>);

async fn source(role: &mut S) -> Result<Infallible> {
    try_session(role, async |mut session: Source<'_, _>| {
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
    try_session(role, async |mut session: Kernel<'_, _>| {
        loop {
            #[cfg(not(feature = "unsafe-reordering"))]
            let (Value(value), next) = session.send(Ready).await?.receive().await?;
            #[cfg(feature = "unsafe-reordering")]
            let (Value(value), next) = {
                let (value, next) = session.receive().await?;
                (value, next.send(Ready).await?)
            };
            let (Ready, next) = next.receive().await?;
            println!("kernel: passes {value} on");
            session = next.send(Value(value)).await?;
        }
    })
    .await
}

async fn sink(role: &mut T, count: i32, done: oneshot::Sender<i32>) -> Result<Infallible> {
    try_session(role, async |mut session: Sink<'_, _>| {
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let Roles {
        mut s,
        mut k,
        mut t,
    } = Roles::default();
    let (done, finished) = oneshot::channel();
    tokio::select! {
        stopped = async { tokio::try_join!(source(&mut s), kernel(&mut k), sink(&mut t, 5, done)) } => {
            stopped?;
        }
        Ok(sum) = finished => println!("five values arrived; their sum is {sum}"),
    }
    Ok(())
}
