//! Streaming (PPoPP'22, Fig. 3): the sink asks for each value, and the source sends one or stops.
//! The optimised source sends its first two values before it is asked for any.
//!
//! `cargo run -p rumpsteak-examples --example streaming`

use rumpsteak_runtime::{
    Branch, Channel, End, Message, Receive, Result, Role, Roles, Select, Send, session, try_session,
};

#[derive(Roles)]
struct Roles {
    s: S,
    t: T,
}

#[derive(Role)]
#[protocol(Streaming::s)]
#[message(Label)]
struct S {
    #[route(T)]
    t: Channel<Label>,
}

#[derive(Role)]
#[protocol(Streaming::t)]
#[message(Label)]
struct T {
    #[route(S)]
    s: Channel<Label>,
}

#[derive(Message)]
enum Label {
    Ready(Ready),
    Value(Value),
    Stop(Stop),
}

struct Ready;
struct Value(i32);
struct Stop;

#[session(S)]
type Source = Receive<T, Ready, Select<T, SourceChoice>>;

#[session]
enum SourceChoice {
    Value(Value, Source),
    Stop(Stop, End),
}

#[session(S)]
type OptimisedSource = Send<T, Value, Send<T, Value, AheadSource>>;

/// The source while it is two values ahead of what the sink has asked for.
#[session]
struct AheadSource(Receive<T, Ready, Select<T, AheadChoice>>);

#[session]
enum AheadChoice {
    Value(Value, AheadSource),
    Stop(Stop, Receive<T, Ready, Receive<T, Ready, End>>),
}

#[session(T)]
type Sink = Send<S, Ready, Branch<S, SinkChoice>>;

#[session]
enum SinkChoice {
    Value(Value, Sink),
    Stop(Stop, End),
}

async fn source(role: &mut S, values: &[i32]) -> Result<()> {
    try_session(role, async |mut session: Source<'_, _>| {
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

async fn optimised_source(role: &mut S, first: [i32; 2], rest: &[i32]) -> Result<()> {
    try_session(role, async |session: OptimisedSource<'_, _>| {
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

async fn sink(role: &mut T) -> Result<Vec<i32>> {
    try_session(role, async |mut session: Sink<'_, _>| {
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // The roles, and the channels in them, serve one session after the other.
    let Roles { mut s, mut t } = Roles::default();

    println!("plain source");
    let ((), values) = tokio::try_join!(source(&mut s, &[2, 3, 5, 7, 11]), sink(&mut t))?;
    assert_eq!(values, [2, 3, 5, 7, 11]);
    println!("the sink has {values:?}\n");

    println!("optimised source");
    let ((), values) =
        tokio::try_join!(optimised_source(&mut s, [2, 3], &[5, 7, 11]), sink(&mut t))?;
    assert_eq!(values, [2, 3, 5, 7, 11]);
    println!("the sink has {values:?}");
    Ok(())
}
