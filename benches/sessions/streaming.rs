//! Streaming (PPoPP'22, Fig. 3a), plain and with a window of five values that the source sends
//! before they are asked for.

use rumpsteak_runtime::{Message, Result, Role, Roles, session, try_run};

use super::Both;

/// Both roles.
#[derive(Debug, Roles)]
pub struct Roles {
    /// The source.
    pub s: S,
    /// The sink.
    pub t: T,
}

/// The source.
#[derive(Debug, Role)]
#[protocol(Streaming::s)]
#[message(Label)]
pub struct S {
    #[route(T)]
    t: Both<Label>,
}

/// The sink.
#[derive(Debug, Role)]
#[protocol(Streaming::t)]
#[message(Label)]
pub struct T {
    #[route(S)]
    s: Both<Label>,
}

/// The messages.
#[derive(Debug, Message)]
pub enum Label {
    /// Asks for a value.
    Ready(Ready),
    /// Answers with one.
    Value(Value),
    /// Ends the stream.
    Stop(Stop),
}

/// Asks for a value.
#[derive(Debug)]
pub struct Ready;
/// A value.
#[derive(Debug)]
pub struct Value(pub i32);
/// Ends the stream.
#[derive(Debug)]
pub struct Stop;

#[session(S)]
type Source = Receive<T, Ready, Select<T, SourceChoice>>;

#[session]
enum SourceChoice {
    Value(Value, Source),
    Stop(Stop, End),
}

#[session(S)]
type WindowedSource =
    Send<T, Value, Send<T, Value, Send<T, Value, Send<T, Value, Send<T, Value, AheadSource>>>>>;

#[session]
struct AheadSource(Receive<T, Ready, Select<T, AheadChoice>>);

#[session]
enum AheadChoice {
    Value(Value, AheadSource),
    Stop(Stop, CatchUp),
}

#[session]
type CatchUp = Receive<
    T,
    Ready,
    Receive<T, Ready, Receive<T, Ready, Receive<T, Ready, Receive<T, Ready, End>>>>,
>;

#[session(T)]
type Sink = Send<S, Ready, Branch<S, SinkChoice>>;

#[session]
enum SinkChoice {
    Value(Value, Sink),
    Stop(Stop, End),
}

/// Sends `count` values, each when it is asked for.
///
/// # Errors
///
/// Those of the session.
pub async fn source(role: &mut S, count: i32) -> Result<()> {
    try_run(role, async |mut s: Source<'_>| {
        for value in 0..count {
            let (Ready, next) = s.receive().await?;
            s = next.select(Value(value)).await?;
        }
        let (Ready, next) = s.receive().await?;
        Ok(((), next.select(Stop).await?))
    })
    .await
}

/// Sends `count` values, five of them before they are asked for.
///
/// # Errors
///
/// Those of the session.
pub async fn windowed_source(role: &mut S, count: i32) -> Result<()> {
    try_run(role, async |s: WindowedSource<'_>| {
        let s = s.send(Value(0)).await?;
        let s = s.send(Value(1)).await?;
        let s = s.send(Value(2)).await?;
        let s = s.send(Value(3)).await?;
        let mut s = s.send(Value(4)).await?;
        for value in 5..count {
            let (Ready, next) = s.receive().await?;
            s = next.select(Value(value)).await?;
        }
        let (Ready, next) = s.receive().await?;
        let (Ready, next) = next.select(Stop).await?.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, end) = next.receive().await?;
        Ok(((), end))
    })
    .await
}

/// Asks for values until there are no more, and returns their sum.
///
/// # Errors
///
/// Those of the session.
pub async fn sink(role: &mut T) -> Result<i32> {
    try_run(role, async |mut s: Sink<'_>| {
        let mut sum = 0;
        loop {
            s = match s.send(Ready).await?.branch().await? {
                SinkChoice::Value(Value(value), next) => {
                    sum += value;
                    next
                }
                SinkChoice::Stop(Stop, end) => return Ok((sum, end)),
            };
        }
    })
    .await
}
