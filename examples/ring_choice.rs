//! Ring with choice (COORDINATION'21, Listings 6 to 8): a value goes round a ring of three; in each
//! lap `b` chooses whether the others add or subtract it.
//!
//! `cargo run -p rumpsteak-examples --example ring_choice`

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
#[protocol(RingChoice::a)]
#[message(Label)]
pub struct A {
    #[route(B)]
    b: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Role)]
#[protocol(RingChoice::b)]
#[message(Label)]
pub struct B {
    #[route(A)]
    a: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Role)]
#[protocol(RingChoice::c)]
#[message(Label)]
pub struct C {
    #[route(A)]
    a: Channel<Label>,
    #[route(B)]
    b: Channel<Label>,
}

#[derive(Message)]
pub enum Label {
    Add(Add),
    Sub(Sub),
}

pub struct Add(pub i32);
pub struct Sub(pub i32);

#[session(A)]
pub type RingA = Send<B, Add, Branch<C, RingAChoice>>;

#[session]
pub enum RingAChoice {
    Add(Add, RingA),
    Sub(Sub, RingA),
}

#[session(B)]
pub type RingB = Receive<A, Add, Select<C, RingBChoice>>;

#[session]
pub enum RingBChoice {
    Add(Add, RingB),
    Sub(Sub, RingB),
}

#[session(C)]
pub type RingC = Branch<B, RingCChoice>;

#[session]
pub enum RingCChoice {
    Add(Add, Send<A, Add, RingC>),
    Sub(Sub, Send<A, Sub, RingC>),
}

pub async fn ring_a(
    role: &mut A,
    mut held: i32,
    laps: usize,
    done: oneshot::Sender<i32>,
) -> Result<Infallible> {
    try_run(role, async |mut session: RingA<'_>| {
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
    try_run(role, async |mut session: RingB<'_>| {
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

pub async fn ring_c(role: &mut C, mut held: i32) -> Result<Infallible> {
    try_run(role, async |mut session: RingC<'_>| {
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

/// What `a` holds after four laps.
pub async fn run() -> Result<i32> {
    let Roles { mut a, mut b, mut c } = Roles::default();
    let (done, finished) = oneshot::channel();
    let all = async {
        tokio::try_join!(ring_a(&mut a, 1, 4, done), ring_b(&mut b, 1), ring_c(&mut c, 1),)
    };
    tokio::select! {
        stopped = all => match stopped?.0 {},
        Ok(held) = finished => Ok(held),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, -13)
}
