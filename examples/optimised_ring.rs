//! Ring where `b` and `c` send before they receive (COORDINATION'21, §3). The value that they send
//! does not depend on the one that they receive, so all three work at the same time, and a lap
//! takes as long as one hop. `a` is the same as in `ring.rs`, and all hold the same values in the
//! end.
//!
//! `cargo run -p rumpsteak-examples --example optimised_ring`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(Ring)]
pub mod ring {
    #[session(B)]
    struct RingB(Send<C, Value, Receive<A, Value, Self>>);

    #[session(C)]
    struct RingC(Send<A, Value, Receive<B, Value, Self>>);
}
use ring::*;

/// Reports its number after four laps.
async fn ring_a(
    mut session: ASession<'_>,
    mut held: i32,
    done: oneshot::Sender<i32>,
) -> Ended<'_, A, Infallible> {
    for lap in 1..=4 {
        let (Value(value), next) = session.send(Value(held)).await?.receive().await?;
        held += value;
        println!("a: lap {lap}, is sent {value}, holds {held}");
        session = next;
    }
    // The protocol never ends. The program stops when it has seen enough.
    let _ = done.send(held);
    std::future::pending().await
}

async fn ring_b(mut session: RingB<'_>, mut held: i32) -> Ended<'_, B, Infallible> {
    loop {
        println!("b: sends {held}");
        let (Value(value), next) = session.send(Value(held)).await?.receive().await?;
        held += value;
        session = next;
    }
}

async fn ring_c(mut session: RingC<'_>, mut held: i32) -> Ended<'_, C, Infallible> {
    loop {
        println!("c: sends {held}");
        let (Value(value), next) = session.send(Value(held)).await?.receive().await?;
        held += value;
        session = next;
    }
}

/// The number that `a` holds after four laps.
pub async fn run() -> Result<i32> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    tokio::select! {
        stopped = roles.run(|a| ring_a(a, 1, done), |b| ring_b(b, 2), |c| ring_c(c, 3)) => {
            match stopped?.0 {}
        }
        Ok(held) = finished => Ok(held),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, 32)
}
