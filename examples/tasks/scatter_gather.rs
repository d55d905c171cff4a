//! Scatter and gather: a task for each of eight workers, and their results. The root is done when
//! the slowest worker is, in whatever order it takes the results: so it takes them in that of the
//! alphabet, which is verified with all roles. A result that comes early waits in its queue.
//!
//! `cargo run -p rumpsteak-examples --example scatter_gather`

use std::process::ExitCode;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};
use tokio::task::yield_now;

#[derive(Roles)]
struct Roles {
    root: Root,
    a: A,
    b: B,
    c: C,
    d: D,
    e: E,
    f: F,
    g: G,
    h: H,
}

#[derive(Role)]
#[protocol(ScatterGather::root)]
#[message(Label)]
struct Root {
    #[route(A)]
    a: Channel<Label>,
    #[route(B)]
    b: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
    #[route(D)]
    d: Channel<Label>,
    #[route(E)]
    e: Channel<Label>,
    #[route(F)]
    f: Channel<Label>,
    #[route(G)]
    g: Channel<Label>,
    #[route(H)]
    h: Channel<Label>,
}

#[derive(Role)]
#[protocol(ScatterGather::a)]
#[message(Label)]
struct A(#[route(Root)] Channel<Label>);

#[derive(Role)]
#[protocol(ScatterGather::b)]
#[message(Label)]
struct B(#[route(Root)] Channel<Label>);

#[derive(Role)]
#[protocol(ScatterGather::c)]
#[message(Label)]
struct C(#[route(Root)] Channel<Label>);

#[derive(Role)]
#[protocol(ScatterGather::d)]
#[message(Label)]
struct D(#[route(Root)] Channel<Label>);

#[derive(Role)]
#[protocol(ScatterGather::e)]
#[message(Label)]
struct E(#[route(Root)] Channel<Label>);

#[derive(Role)]
#[protocol(ScatterGather::f)]
#[message(Label)]
struct F(#[route(Root)] Channel<Label>);

#[derive(Role)]
#[protocol(ScatterGather::g)]
#[message(Label)]
struct G(#[route(Root)] Channel<Label>);

#[derive(Role)]
#[protocol(ScatterGather::h)]
#[message(Label)]
struct H(#[route(Root)] Channel<Label>);

#[derive(Message)]
enum Label {
    Task(Task),
    #[label("result")]
    Outcome(Outcome),
}

struct Task(u64);
struct Outcome(u64);

#[session(Root)]
type Scatter = Send<A, Task, Send<B, Task, Send<C, Task, Send<D, Task, ToLast>>>>;

#[session]
type ToLast = Send<E, Task, Send<F, Task, Send<G, Task, Send<H, Task, Gather>>>>;

#[session]
type Gather =
    Receive<A, Outcome, Receive<B, Outcome, Receive<C, Outcome, Receive<D, Outcome, Last>>>>;

#[session]
type Last = Receive<E, Outcome, Receive<F, Outcome, Receive<G, Outcome, Receive<H, Outcome, End>>>>;

#[session]
struct Work(Receive<Root, Task, Send<Root, Outcome, End>>);

#[session(A)]
type WorkA = Work;

#[session(B)]
type WorkB = Work;

#[session(C)]
type WorkC = Work;

#[session(D)]
type WorkD = Work;

#[session(E)]
type WorkE = Work;

#[session(F)]
type WorkF = Work;

#[session(G)]
type WorkG = Work;

#[session(H)]
type WorkH = Work;

/// The sum of the squares of eight numbers.
async fn root(role: &mut Root, first: u64) -> Result<u64> {
    try_run(role, async |s: Scatter<'_>| {
        let s = s.send(Task(first)).await?.send(Task(first + 1)).await?;
        let s = s.send(Task(first + 2)).await?.send(Task(first + 3)).await?;
        let s = s.send(Task(first + 4)).await?.send(Task(first + 5)).await?;
        let s = s.send(Task(first + 6)).await?.send(Task(first + 7)).await?;
        let (Outcome(a), s) = s.receive().await?;
        let (Outcome(b), s) = s.receive().await?;
        let (Outcome(c), s) = s.receive().await?;
        let (Outcome(d), s) = s.receive().await?;
        let (Outcome(e), s) = s.receive().await?;
        let (Outcome(f), s) = s.receive().await?;
        let (Outcome(g), s) = s.receive().await?;
        let (Outcome(h), end) = s.receive().await?;
        Ok((a + b + c + d + e + f + g + h, end))
    })
    .await
}

macro_rules! worker {
    ($worker:ident, $Role:ident, $Session:ident) => {
        /// Squares a number, for which it needs so many turns.
        async fn $worker(role: &mut $Role, turns: usize) -> Result<()> {
            try_run(role, async |s: $Session<'_>| {
                let (Task(number), s) = s.receive().await?;
                for _ in 0..turns {
                    yield_now().await;
                }
                println!("{}: {number} squared", stringify!($worker));
                Ok(((), s.send(Outcome(number * number)).await?))
            })
            .await
        }
    };
}

worker!(a, A, WorkA);
worker!(b, B, WorkB);
worker!(c, C, WorkC);
worker!(d, D, WorkD);
worker!(e, E, WorkE);
worker!(f, F, WorkF);
worker!(g, G, WorkG);
worker!(h, H, WorkH);

/// The sum of the squares from 1 to 8. The first worker is the slowest.
pub async fn run() -> Result<u64> {
    let mut roles = Roles::default();
    let (sum, ..) = tokio::try_join!(
        root(&mut roles.root, 1),
        a(&mut roles.a, 8),
        b(&mut roles.b, 7),
        c(&mut roles.c, 6),
        d(&mut roles.d, 5),
        e(&mut roles.e, 4),
        f(&mut roles.f, 3),
        g(&mut roles.g, 2),
        h(&mut roles.h, 1),
    )?;
    Ok(sum)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 204)
}
