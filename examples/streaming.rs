//! Streaming (PPoPP'22, Fig. 3): the sink asks for each value, and the source sends one or stops.
//!
//! `cargo run -p rumpsteak-examples --example streaming`

use std::process::ExitCode;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

#[derive(Roles)]
pub struct Roles {
    pub s: S,
    pub t: T,
}

#[derive(Role)]
#[protocol(Streaming::s)]
#[message(Label)]
pub struct S {
    #[route(T)]
    t: Channel<Label>,
}

#[derive(Role)]
#[protocol(Streaming::t)]
#[message(Label)]
pub struct T {
    #[route(S)]
    s: Channel<Label>,
}

#[derive(Message)]
pub enum Label {
    Ready(Ready),
    Value(Value),
    Stop(Stop),
}

pub struct Ready;
pub struct Value(pub i32);
pub struct Stop;

#[session(S)]
pub type Source = Receive<T, Ready, Select<T, SourceChoice>>;

#[session]
pub enum SourceChoice {
    Value(Value, Source),
    Stop(Stop, End),
}

#[session(T)]
pub type Sink = Send<S, Ready, Branch<S, SinkChoice>>;

#[session]
pub enum SinkChoice {
    Value(Value, Sink),
    Stop(Stop, End),
}

async fn source(role: &mut S, values: &[i32]) -> Result<()> {
    try_run(role, async |mut session: Source<'_>| {
        for &value in values {
            let (Ready, next) = session.receive().await?;
            println!("source: sends {value}");
            session = next.select(Value(value)).await?;
        }
        let (Ready, next) = session.receive().await?;
        println!("source: stops");
        Ok(((), next.select(Stop).await?))
    })
    .await
}

pub async fn sink(role: &mut T) -> Result<Vec<i32>> {
    try_run(role, async |mut session: Sink<'_>| {
        let mut values = Vec::new();
        loop {
            session = match session.send(Ready).await?.branch().await? {
                SinkChoice::Value(Value(value), next) => {
                    println!("sink:   receives {value}");
                    values.push(value);
                    next
                }
                SinkChoice::Stop(Stop, end) => return Ok((values, end)),
            };
        }
    })
    .await
}

/// What the sink has received.
pub async fn run() -> Result<Vec<i32>> {
    let Roles { mut s, mut t } = Roles::default();
    let ((), values) = tokio::try_join!(source(&mut s, &[2, 3, 5, 7, 11]), sink(&mut t))?;
    Ok(values)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, vec![2, 3, 5, 7, 11])
}
