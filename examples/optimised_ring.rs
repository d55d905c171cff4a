//! Ring where `b` and `c` send before they receive (COORDINATION'21, §3): what they send does not
//! depend on what they are sent, so all three work at the same time, and a lap takes as long as one
//! hop. `a` is as in `ring.rs`, and all hold the same values in the end.
//!
//! `cargo run -p rumpsteak-examples --example optimised_ring`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak_runtime::{Result, session, try_run};
use tokio::sync::oneshot;

#[allow(dead_code, reason = "its `b` and `c`, and the program")]
#[path = "ring.rs"]
pub mod plain;

use plain::{A, B, C, Roles, Value, ring_a};

#[session(B)]
pub type OptimisedRingB = OptimisedRingBLoop;

#[session]
pub struct OptimisedRingBLoop(Send<C, Value, Receive<A, Value, Self>>);

#[session(C)]
pub type OptimisedRingC = OptimisedRingCLoop;

#[session]
pub struct OptimisedRingCLoop(Send<A, Value, Receive<B, Value, Self>>);

async fn optimised_ring_b(role: &mut B, mut held: i32) -> Result<Infallible> {
    try_run(role, async |mut session: OptimisedRingB<'_>| {
        loop {
            println!("b: sends {held}");
            let (Value(value), next) = session.send(Value(held)).await?.receive().await?;
            held += value;
            session = next;
        }
    })
    .await
}

async fn optimised_ring_c(role: &mut C, mut held: i32) -> Result<Infallible> {
    try_run(role, async |mut session: OptimisedRingC<'_>| {
        loop {
            println!("c: sends {held}");
            let (Value(value), next) = session.send(Value(held)).await?.receive().await?;
            held += value;
            session = next;
        }
    })
    .await
}

/// What `a` holds after four laps.
pub async fn run() -> Result<i32> {
    let Roles { mut a, mut b, mut c } = Roles::default();
    let (done, finished) = oneshot::channel();
    let all = async {
        tokio::try_join!(
            ring_a(&mut a, 1, 4, done),
            optimised_ring_b(&mut b, 2),
            optimised_ring_c(&mut c, 3),
        )
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
