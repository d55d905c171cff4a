//! Client-server log (PPoPP'22, Table 1): a server halves the even numbers that its client sends
//! and refuses the odd ones. A log keeps the answer to each, and no role waits for the log.
//!
//! `cargo run -p rumpsteak-examples --example client_server_log`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(ClientServerLog)]
pub mod client_server_log {}
use client_server_log::*;

async fn client(mut session: CSession<'_>, first: u32) -> Ended<'_, C, Infallible> {
    let mut number = first;
    loop {
        session = match session.send(Request(number)).await?.branch().await? {
            CHalfChoice::Half(Half(half), next) => {
                println!("client: half of {number} is {half}");
                number = half;
                next
            }
            CHalfChoice::Odd(Odd, next) => {
                println!("client: {number} is odd");
                number = 3 * number + 1;
                next
            }
        };
    }
}

async fn server(mut session: SSession<'_>) -> Ended<'_, S, Infallible> {
    loop {
        let (Request(number), next) = session.receive().await?;
        session = match number % 2 {
            0 => next.select(Half(number / 2)).await?.send(Entry(number)).await?,
            _ => next.select(Odd).await?.send(Refusal(number)).await?,
        };
    }
}

/// The numbers that a log keeps, each with true if it was refused.
type Kept = Vec<(u32, bool)>;

/// Keeps the first `entries`.
async fn log(
    mut session: LSession<'_>,
    entries: usize,
    done: oneshot::Sender<Kept>,
) -> Ended<'_, L, Infallible> {
    let mut kept = Vec::new();
    while kept.len() < entries {
        session = match session.branch().await? {
            LEntryChoice::Entry(Entry(number), next) => {
                kept.push((number, false));
                next
            }
            LEntryChoice::Refusal(Refusal(number), next) => {
                println!("log:    {number} was refused");
                kept.push((number, true));
                next
            }
        };
    }
    // The protocol never ends. The program stops when the log has seen enough.
    let _ = done.send(kept);
    std::future::pending().await
}

/// The log of the first seven requests.
pub async fn run() -> Result<Kept> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    tokio::select! {
        stopped = roles.run(|c| client(c, 6), server, |l| log(l, 7, done)) => match stopped?.0 {},
        Ok(kept) = finished => Ok(kept),
    }
}

/// Half of six is three, which is odd: three times three and one is ten, and so on.
const EXPECTED: [(u32, bool); 7] =
    [(6, false), (3, true), (10, false), (5, true), (16, false), (8, false), (4, false)];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, EXPECTED.to_vec())
}
