//! Streaming (PPoPP'22, Fig. 3): the sink asks for each value, and the source sends one or stops.
//!
//! `cargo run -p rumpsteak-examples --example streaming`

use std::process::ExitCode;

use rumpsteak::{Ended, Result};

#[rumpsteak::protocol(Streaming)]
pub mod streaming {}
use streaming::*;

async fn source<'s>(mut session: SSession<'s>, values: &[i32]) -> Ended<'s, S> {
    for &value in values {
        let (Ready, next) = session.receive().await?;
        println!("source: sends {value}");
        session = next.select(Value(value)).await?;
    }
    let (Ready, next) = session.receive().await?;
    println!("source: stops");
    next.select(Stop).await?.end(())
}

async fn sink(mut session: TSession<'_>) -> Ended<'_, T, Vec<i32>> {
    let mut values = Vec::new();
    loop {
        session = match session.send(Ready).await?.branch().await? {
            TValueChoice::Value(Value(value), next) => {
                println!("sink:   receives {value}");
                values.push(value);
                next
            }
            TValueChoice::Stop(Stop, end) => return end.end(values),
        };
    }
}

/// The values that the sink has received.
pub async fn run() -> Result<Vec<i32>> {
    let ((), values) = Roles::default().run(|s| source(s, &[2, 3, 5, 7, 11]), sink).await?;
    Ok(values)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, vec![2, 3, 5, 7, 11])
}
