//! Two adder (COORDINATION'21, Fig. 6, after the Scribble tutorial): a client has a server add two
//! numbers, as often as it likes, and says `bye`.
//!
//! `cargo run -p rumpsteak-examples --example two_adder`

use std::process::ExitCode;

use rumpsteak::{Ended, Result};

#[rumpsteak::protocol(TwoAdder)]
pub mod two_adder {}
use two_adder::*;

async fn client<'s>(mut session: CSession<'s>, pairs: &[(i32, i32)]) -> Ended<'s, C, Vec<i32>> {
    let mut sums = Vec::new();
    for &(left, right) in pairs {
        let next = session.select(Add(left)).await?.send(Add(right)).await?;
        let (Sum(sum), next) = next.receive().await?;
        println!("client: {left} + {right} = {sum}");
        sums.push(sum);
        session = next;
    }
    let (Bye, end) = session.select(Bye).await?.receive().await?;
    end.end(sums)
}

async fn server(mut session: SSession<'_>) -> Ended<'_, S, usize> {
    let mut served = 0;
    loop {
        session = match session.branch().await? {
            SAddChoice::Add(Add(left), next) => {
                let (Add(right), next) = next.receive().await?;
                served += 1;
                next.send(Sum(left.wrapping_add(right))).await?
            }
            SAddChoice::Bye(Bye, next) => return next.send(Bye).await?.end(served),
        };
    }
}

/// The sums that the client received, and the number of sums that the server has computed.
pub async fn run() -> Result<(Vec<i32>, usize)> {
    let pairs = [(1, 2), (20, 22), (-5, 5)];
    Roles::default().run(|session| client(session, &pairs), server).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (vec![3, 42, 0], 3))
}
