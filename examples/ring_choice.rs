//! Ring with choice (COORDINATION'21, Listings 6 to 8): a value goes round a ring of three; in each
//! lap `b` chooses whether the others add or subtract it. The optimised `b` does not wait for the value
//! before it sends its own, which the papers call asynchronous message reordering.
//!
//! `cargo run -p rumpsteak-examples --example ring_choice`

use std::convert::Infallible;

use rumpsteak_runtime::{
    Branch, Channel, Message, Receive, Result, Role, Roles, Select, Send, session, try_session,
};
use tokio::sync::oneshot;

#[derive(Roles)]
struct Roles {
    a: A,
    b: B,
    c: C,
}

#[derive(Role)]
#[protocol(RingChoice::a)]
#[message(Label)]
struct A {
    #[route(B)]
    b: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Role)]
#[protocol(RingChoice::b)]
#[message(Label)]
struct B {
    #[route(A)]
    a: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Role)]
#[protocol(RingChoice::c)]
#[message(Label)]
struct C {
    #[route(A)]
    a: Channel<Label>,
    #[route(B)]
    b: Channel<Label>,
}

#[derive(Message)]
enum Label {
    Add(Add),
    Sub(Sub),
}

struct Add(i32);
struct Sub(i32);

#[session(A)]
type RingA = Send<B, Add, Branch<C, RingAChoice>>;

#[session]
enum RingAChoice {
    Add(Add, RingA),
    Sub(Sub, RingA),
}

#[session(B)]
type RingB = Receive<A, Add, Select<C, RingBChoice>>;

#[session]
enum RingBChoice {
    Add(Add, RingB),
    Sub(Sub, RingB),
}

#[session(B)]
type OptimisedRingB = Select<C, OptimisedRingBChoice>;

#[session]
enum OptimisedRingBChoice {
    Add(Add, Receive<A, Add, OptimisedRingB>),
    Sub(Sub, Receive<A, Add, OptimisedRingB>),
}

#[session(C)]
type RingC = Branch<B, RingCChoice>;

#[session]
enum RingCChoice {
    Add(Add, Send<A, Add, RingC>),
    Sub(Sub, Send<A, Sub, RingC>),
}

async fn ring_a(
    role: &mut A,
    mut held: i32,
    laps: usize,
    done: oneshot::Sender<i32>,
) -> Result<Infallible> {
    try_session(role, async |mut session: RingA<'_, _>| {
        let mut done = Some(done);
        for lap in 1.. {
            session = match session.send(Add(held)).await?.branch().await? {
                RingAChoice::Add(Add(value), next) => {
                    held += value;
                    println!("a: lap {lap}, adds {value}, holds {held}");
                    next
                }
                RingAChoice::Sub(Sub(value), next) => {
                    held -= value;
                    println!("a: lap {lap}, subtracts {value}, holds {held}");
                    next
                }
            };
            if lap == laps
                && let Some(done) = done.take()
            {
                // The protocol goes on for ever; the program stops when it has seen enough.
                let _ = done.send(held);
            }
        }
        unreachable!("the ring has no last lap")
    })
    .await
}

async fn ring_b(role: &mut B, mut held: i32) -> Result<Infallible> {
    try_session(role, async |mut session: RingB<'_, _>| {
        loop {
            let (Add(value), next) = session.receive().await?;
            session = if held > 0 {
                println!("b: chooses add");
                next.select(Add(held)).await?
            } else {
                println!("b: chooses sub");
                next.select(Sub(held)).await?
            };
            held -= value;
        }
    })
    .await
}

async fn optimised_ring_b(role: &mut B, mut held: i32) -> Result<Infallible> {
    try_session(role, async |mut session: OptimisedRingB<'_, _>| {
        loop {
            let next = if held > 0 {
                println!("b: chooses add");
                session.select(Add(held)).await?
            } else {
                println!("b: chooses sub");
                session.select(Sub(held)).await?
            };
            let (Add(value), next) = next.receive().await?;
            held -= value;
            session = next;
        }
    })
    .await
}

async fn ring_c(role: &mut C, mut held: i32) -> Result<Infallible> {
    try_session(role, async |mut session: RingC<'_, _>| {
        loop {
            session = match session.branch().await? {
                RingCChoice::Add(Add(value), next) => {
                    held += value;
                    next.send(Add(held)).await?
                }
                RingCChoice::Sub(Sub(value), next) => {
                    held -= value;
                    next.send(Sub(held)).await?
                }
            };
        }
    })
    .await
}

/// Runs the ring until `a` has seen four laps, and returns what it holds then.
async fn run(optimised: bool) -> Result<i32> {
    let Roles {
        mut a,
        mut b,
        mut c,
    } = Roles::default();
    let (done, finished) = oneshot::channel();
    let ring_b = async {
        if optimised {
            optimised_ring_b(&mut b, 1).await
        } else {
            ring_b(&mut b, 1).await
        }
    };
    tokio::select! {
        stopped = async { tokio::try_join!(ring_a(&mut a, 1, 4, done), ring_b, ring_c(&mut c, 1)) } => {
            match stopped?.0 {}
        }
        Ok(held) = finished => Ok(held),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut held = Vec::new();
    for (name, optimised) in [("plain", false), ("optimised", true)] {
        println!("{name} b");
        held.push(run(optimised).await?);
        println!("after four laps a holds {}\n", held[held.len() - 1]);
    }
    assert_eq!(
        held[0], held[1],
        "the order of b's actions changes nothing that it computes"
    );
    Ok(())
}
