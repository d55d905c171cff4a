//! Ring (COORDINATION'21, App. B, Listing 9): in each lap a value goes from `a` to `b`, to `c` and
//! back to `a`. Each sends what it holds and then adds what it was sent.
//!
//! `cargo run -p rumpsteak-examples --example ring`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};
use tokio::sync::oneshot;

#[derive(Roles)]
pub struct Roles {
    pub a: A,
    pub b: B,
    pub c: C,
}

#[derive(Role)]
#[protocol(Ring::a)]
#[message(Label)]
pub struct A {
    #[route(B)]
    b: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Role)]
#[protocol(Ring::b)]
#[message(Label)]
pub struct B {
    #[route(A)]
    a: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Role)]
#[protocol(Ring::c)]
#[message(Label)]
pub struct C {
    #[route(A)]
    a: Channel<Label>,
    #[route(B)]
    b: Channel<Label>,
}

#[derive(Message)]
pub enum Label {
    Value(Value),
}

pub struct Value(pub i32);

#[session(A)]
pub type RingA = RingALoop;

#[session]
pub struct RingALoop(Send<B, Value, Receive<C, Value, Self>>);

#[session(B)]
pub type RingB = RingBLoop;

#[session]
pub struct RingBLoop(Receive<A, Value, Send<C, Value, Self>>);

#[session(C)]
pub type RingC = RingCLoop;

#[session]
pub struct RingCLoop(Receive<B, Value, Send<A, Value, Self>>);

pub async fn ring_a(
    role: &mut A,
    mut held: i32,
    laps: usize,
    done: oneshot::Sender<i32>,
) -> Result<Infallible> {
    try_run(role, async |mut session: RingA<'_>| {
        let mut done = Some(done);
        for lap in 1.. {
            let (Value(value), next) = session.send(Value(held)).await?.receive().await?;
            held += value;
            println!("a: lap {lap}, is sent {value}, holds {held}");
            if lap == laps
                && let Some(done) = done.take()
            {
                // The protocol goes on for ever; the program stops when it has seen enough.
                let _ = done.send(held);
            }
            session = next;
        }
        unreachable!("the ring has no last lap")
    })
    .await
}

async fn ring_b(role: &mut B, mut held: i32) -> Result<Infallible> {
    try_run(role, async |mut session: RingB<'_>| {
        loop {
            let (Value(value), next) = session.receive().await?;
            println!("b: is sent {value}, sends {held}");
            session = next.send(Value(held)).await?;
            held += value;
        }
    })
    .await
}

async fn ring_c(role: &mut C, mut held: i32) -> Result<Infallible> {
    try_run(role, async |mut session: RingC<'_>| {
        loop {
            let (Value(value), next) = session.receive().await?;
            println!("c: is sent {value}, sends {held}");
            session = next.send(Value(held)).await?;
            held += value;
        }
    })
    .await
}

/// What `a` holds after four laps.
pub async fn run() -> Result<i32> {
    let Roles { mut a, mut b, mut c } = Roles::default();
    let (done, finished) = oneshot::channel();
    let all = async {
        tokio::try_join!(ring_a(&mut a, 1, 4, done), ring_b(&mut b, 2), ring_c(&mut c, 3),)
    };
    tokio::select! {
        stopped = all => match stopped?.0 {},
        Ok(held) = finished => Ok(held),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 32)
}
