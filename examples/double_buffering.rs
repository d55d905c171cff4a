//! Double buffering (PPoPP'22, Listings 1 to 3): a kernel asks a source for a value, then waits
//! until the sink is ready and hands the value on. The optimised kernel asks for the second value
//! before it has handed on the first, so that the source is never kept waiting.
//!
//! `cargo run -p rumpsteak-examples --example double_buffering`
//!
//! With `--features unsafe-reordering` there is a third kernel, which receives a value before it
//! has asked for one. The build refuses it, at the offending token.

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

#[session(K)]
type Kernel = KernelLoop;

#[session]
struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);

#[session(K)]
type OptimisedKernel = Send<S, Ready, KernelLoop>;

#[cfg(feature = "unsafe-reordering")]
#[session(K)]
type UnsafeKernel = UnsafeLoop;

#[cfg(feature = "unsafe-reordering")]
#[session]
struct UnsafeLoop(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);

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
    try_session(role, async |session: Kernel<'_, _>| pass_on(session).await).await
}

async fn optimised_kernel(role: &mut K) -> Result<Infallible> {
    try_session(role, async |session: OptimisedKernel<'_, _>| {
        pass_on(session.send(Ready).await?).await
    })
    .await
}

/// What both kernels do for ever.
async fn pass_on<T>(mut session: KernelLoop<'_, K>) -> Result<T> {
    loop {
        let (Value(value), next) = session.send(Ready).await?.receive().await?;
        let (Ready, next) = next.receive().await?;
        println!("kernel: passes {value} on");
        session = next.send(Value(value)).await?;
    }
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

/// Runs the three processes until the sink has received five values, and returns their sum.
async fn run(optimised: bool) -> Result<i32> {
    let Roles {
        mut s,
        mut k,
        mut t,
    } = Roles::default();
    let (done, finished) = oneshot::channel();
    let kernel = async {
        if optimised {
            optimised_kernel(&mut k).await
        } else {
            kernel(&mut k).await
        }
    };
    tokio::select! {
        stopped = async { tokio::try_join!(source(&mut s), kernel, sink(&mut t, 5, done)) } => {
            match stopped?.0 {}
        }
        Ok(sum) = finished => Ok(sum),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    for (name, optimised) in [("plain", false), ("optimised", true)] {
        println!("{name} kernel");
        let sum = run(optimised).await?;
        assert_eq!(sum, 1 + 2 + 3 + 4 + 5);
        println!("five values arrived; their sum is {sum}\n");
    }
    Ok(())
}
