//! Ring (COORDINATION'21, App. B, Listing 9): in each lap a value goes from `a` to `b`, to `c` and
//! back to `a`. Each sends the number that it holds and then adds the one that it receives.
//!
//! `cargo run -p rumpsteak-examples --example ring`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(Ring)]
pub mod ring {}
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

async fn ring_b(mut session: BSession<'_>, mut held: i32) -> Ended<'_, B, Infallible> {
    loop {
        let (Value(value), next) = session.receive().await?;
        println!("b: is sent {value}, sends {held}");
        session = next.send(Value(held)).await?;
        held += value;
    }
}

async fn ring_c(mut session: CSession<'_>, mut held: i32) -> Ended<'_, C, Infallible> {
    loop {
        let (Value(value), next) = session.receive().await?;
        println!("c: is sent {value}, sends {held}");
        session = next.send(Value(held)).await?;
        held += value;
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
