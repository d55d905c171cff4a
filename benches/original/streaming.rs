//! Streaming, plain and with a window, over `rumpsteak` 0.1.

use rumpsteak::choice::Choice;
use rumpsteak::role::{Role, Roles, ToFrom};
use rumpsteak::{Branch, End, IntoSession, Label, Receive, Result, Select, Send, try_session};

/// Both roles.
#[derive(Roles)]
pub struct Roles(pub S, pub T);

/// The source.
#[derive(Role)]
#[message(Message)]
pub struct S(#[route(T)] ToFrom<T>);

/// The sink.
#[derive(Role)]
#[message(Message)]
pub struct T(#[route(S)] ToFrom<S>);

/// The messages.
#[derive(Label)]
pub enum Message {
    /// Asks for a value.
    Ready(Ready),
    /// Answers with one.
    Value(Value),
    /// Ends the stream.
    Stop(Stop),
}

/// Asks for a value.
pub struct Ready;
/// A value.
pub struct Value(pub i32);
/// Ends the stream.
pub struct Stop;

#[derive(IntoSession)]
#[role('s, S)]
struct Source<'s>(Receive<'s, S, T, Ready, Select<'s, S, T, SourceChoice<'s>>>);

#[derive(Choice)]
#[role('s, S)]
#[allow(dead_code, reason = "what is selected is never constructed")]
enum SourceChoice<'s> {
    Value(Value, Source<'s>),
    Stop(Stop, End<'s>),
}

type WindowedSource<'s> = Send<
    's,
    S,
    T,
    Value,
    Send<
        's,
        S,
        T,
        Value,
        Send<'s, S, T, Value, Send<'s, S, T, Value, Send<'s, S, T, Value, AheadSource<'s>>>>,
    >,
>;

#[derive(IntoSession)]
#[role('s, S)]
struct AheadSource<'s>(Receive<'s, S, T, Ready, Select<'s, S, T, AheadChoice<'s>>>);

#[derive(Choice)]
#[role('s, S)]
#[allow(dead_code, reason = "what is selected is never constructed")]
enum AheadChoice<'s> {
    Value(Value, AheadSource<'s>),
    Stop(Stop, CatchUp<'s>),
}

type CatchUp<'s> = Receive<
    's,
    S,
    T,
    Ready,
    Receive<
        's,
        S,
        T,
        Ready,
        Receive<'s, S, T, Ready, Receive<'s, S, T, Ready, Receive<'s, S, T, Ready, End<'s>>>>,
    >,
>;

#[derive(IntoSession)]
#[role('s, T)]
struct Sink<'s>(Send<'s, T, S, Ready, Branch<'s, T, S, SinkChoice<'s>>>);

#[derive(Choice)]
#[role('s, T)]
enum SinkChoice<'s> {
    Value(Value, Sink<'s>),
    Stop(Stop, End<'s>),
}

/// Sends `count` values, each when it is asked for.
pub async fn source(role: &mut S, count: i32) -> Result<()> {
    try_session(role, |mut s: Source<'_>| async {
        for value in 0..count {
            let (Ready, next) = s.into_session().receive().await?;
            s = next.select(Value(value))?;
        }
        let (Ready, next) = s.into_session().receive().await?;
        Ok(((), next.select(Stop)?))
    })
    .await
}

/// Sends `count` values, five of them before they are asked for.
pub async fn windowed_source(role: &mut S, count: i32) -> Result<()> {
    try_session(role, |s: WindowedSource<'_>| async {
        let s = s.send(Value(0))?;
        let s = s.send(Value(1))?;
        let s = s.send(Value(2))?;
        let s = s.send(Value(3))?;
        let mut s = s.send(Value(4))?;
        for value in 5..count {
            let (Ready, next) = s.into_session().receive().await?;
            s = next.select(Value(value))?;
        }
        let (Ready, next) = s.into_session().receive().await?;
        let (Ready, next) = next.select(Stop)?.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, end) = next.receive().await?;
        Ok(((), end))
    })
    .await
}

/// Asks for values until the source stops, and returns their sum.
pub async fn sink(role: &mut T) -> Result<i32> {
    try_session(role, |mut s: Sink<'_>| async {
        let mut sum = 0;
        loop {
            s = match s.into_session().send(Ready)?.branch().await? {
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
