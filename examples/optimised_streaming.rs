//! Streaming with a source that sends its first two values before it is asked for any (PPoPP'22,
//! §4.1). From then on it is two values ahead of what the sink has asked for, so that it hardly
//! ever waits. Everything else is as in `streaming.rs`.
//!
//! `cargo run -p rumpsteak-examples --example optimised_streaming`

use std::process::ExitCode;

use rumpsteak_runtime::{Result, session, try_run};

#[allow(dead_code, reason = "its source, and the program")]
#[path = "streaming.rs"]
pub mod plain;

use plain::{Ready, Roles, S, Stop, T, Value, sink};

#[session(S)]
pub type OptimisedSource = Send<T, Value, Send<T, Value, AheadSource>>;

/// The source while it is two values ahead of what the sink has asked for.
#[session]
struct AheadSource(Receive<T, Ready, Select<T, AheadChoice>>);

#[session]
enum AheadChoice {
    Value(Value, AheadSource),
    Stop(Stop, Receive<T, Ready, Receive<T, Ready, End>>),
}

async fn optimised_source(role: &mut S, first: [i32; 2], rest: &[i32]) -> Result<()> {
    try_run(role, async |session: OptimisedSource<'_>| {
        println!("source: sends {first:?} at once");
        let session = session.send(Value(first[0])).await?;
        let mut session = session.send(Value(first[1])).await?;
        for &value in rest {
            let (Ready, next) = session.receive().await?;
            println!("source: sends {value}");
            session = next.select(Value(value)).await?;
        }
        let (Ready, next) = session.receive().await?;
        println!("source: stops");
        let (Ready, next) = next.select(Stop).await?.receive().await?;
        let (Ready, end) = next.receive().await?;
        Ok(((), end))
    })
    .await
}

/// What the sink has received.
pub async fn run() -> Result<Vec<i32>> {
    let Roles { mut s, mut t } = Roles::default();
    let source = optimised_source(&mut s, [2, 3], &[5, 7, 11]);
    let ((), values) = tokio::try_join!(source, sink(&mut t))?;
    Ok(values)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, vec![2, 3, 5, 7, 11])
}
