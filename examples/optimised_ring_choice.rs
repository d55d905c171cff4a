//! Ring with choice where `b` chooses, and sends its own value, before it has the value of the lap
//! (COORDINATION'21, Listing 8): its choice depends on nothing but the value that it holds. `a` and
//! `c` are the same as in `ring_choice.rs`, and all hold the same values in the end.
//!
//! `cargo run -p rumpsteak-examples --example optimised_ring_choice`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(RingChoice)]
pub mod ring_choice {
    #[session(B)]
    type RingB = Select<C, RingBChoice>;

    enum RingBChoice {
        Add(Add, Receive<A, Add, RingB>),
        Sub(Sub, Receive<A, Add, RingB>),
    }
}
use ring_choice::*;

/// Reports its number after four laps.
async fn ring_a(
    mut session: ASession<'_>,
    mut held: i32,
    done: oneshot::Sender<i32>,
) -> Ended<'_, A, Infallible> {
    for lap in 1..=4 {
        session = match session.send(Add(held)).await?.branch().await? {
            AAddChoice::Add(Add(value), next) => {
                held += value;
                println!("a: lap {lap}, adds {value}, holds {held}");
                next
            }
            AAddChoice::Sub(Sub(value), next) => {
                held -= value;
                println!("a: lap {lap}, subtracts {value}, holds {held}");
                next
            }
        };
    }
    // The protocol never ends. The program stops when it has seen enough.
    let _ = done.send(held);
    std::future::pending().await
}

async fn ring_b(mut session: RingB<'_>, mut held: i32) -> Ended<'_, B, Infallible> {
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
}

async fn ring_c(mut session: CSession<'_>, mut held: i32) -> Ended<'_, C, Infallible> {
    loop {
        session = match session.branch().await? {
            CAddChoice::Add(Add(value), next) => {
                held += value;
                next.send(Add(held)).await?
            }
            CAddChoice::Sub(Sub(value), next) => {
                held -= value;
                next.send(Sub(held)).await?
            }
        };
    }
}

/// The number that `a` holds after four laps.
pub async fn run() -> Result<i32> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    tokio::select! {
        stopped = roles.run(|a| ring_a(a, 1, done), |b| ring_b(b, 1), |c| ring_c(c, 1)) => {
            match stopped?.0 {}
        }
        Ok(held) = finished => Ok(held),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, -13)
}
