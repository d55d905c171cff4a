//! Ring with choice where `b` chooses, and sends its own value, before it has the value of the lap
//! (COORDINATION'21, Listing 8): its choice depends on what it holds only. Everything else is as in
//! `ring_choice.rs`, and all hold the same values in the end.
//!
//! `cargo run -p rumpsteak-examples --example optimised_ring_choice`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak_runtime::{Result, session, try_run};
use tokio::sync::oneshot;

#[allow(dead_code, reason = "its `b`, and the program")]
#[path = "ring_choice.rs"]
pub mod plain;

use plain::{A, Add, B, C, Roles, Sub, ring_a, ring_c};

#[session(B)]
pub type OptimisedRingB = Select<C, OptimisedRingBChoice>;

#[session]
enum OptimisedRingBChoice {
    Add(Add, Receive<A, Add, OptimisedRingB>),
    Sub(Sub, Receive<A, Add, OptimisedRingB>),
}

async fn optimised_ring_b(role: &mut B, mut held: i32) -> Result<Infallible> {
    try_run(role, async |mut session: OptimisedRingB<'_>| {
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

/// What `a` holds after four laps.
pub async fn run() -> Result<i32> {
    let Roles { mut a, mut b, mut c } = Roles::default();
    let (done, finished) = oneshot::channel();
    let all = async {
        tokio::try_join!(ring_a(&mut a, 1, 4, done), optimised_ring_b(&mut b, 1), ring_c(&mut c, 1),)
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
