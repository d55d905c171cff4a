//! Streaming with a source that sends its first two values before it is asked for any (PPoPP'22,
//! §4.1). From then on it is two values ahead of what the sink has asked for, so that it hardly
//! ever waits. The sink is the same as in `streaming.rs`.
//!
//! `cargo run -p rumpsteak-examples --example optimised_streaming`

use std::process::ExitCode;

use rumpsteak::{Ended, Result};

#[rumpsteak::protocol(Streaming)]
pub mod streaming {
    #[session(S)]
    type Source = Send<T, Value, Send<T, Value, Ahead>>;

    /// The source while it is two values ahead of what the sink has asked for.
    struct Ahead(Receive<T, Ready, Select<T, Next>>);

    enum Next {
        Value(Value, Ahead),
        Stop(Stop, Receive<T, Ready, Receive<T, Ready, End>>),
    }
}
use streaming::*;

async fn source<'s>(session: Source<'s>, first: [i32; 2], rest: &[i32]) -> Ended<'s, S> {
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
    end.end(())
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
    let mut roles = Roles::default();
    let ((), values) = roles.run(|s| source(s, [2, 3], &[5, 7, 11]), sink).await?;
    Ok(values)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, vec![2, 3, 5, 7, 11])
}
