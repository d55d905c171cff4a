//! Streaming (PPoPP'22, Fig. 3a), plain and with a window of five values that the source sends
//! before they are asked for.

use rumpsteak_runtime::{Result, try_run};

/// The roles, over the route of the module around.
#[rumpsteak_runtime::protocol(Streaming, routes = super::super::Both, unbounded)]
mod roles {
    #[session(S)]
    type Source = Receive<T, Ready, Select<T, SourceChoice>>;

    enum SourceChoice {
        Value(Value, Source),
        Stop(Stop, End),
    }

    #[session(S)]
    type WindowedSource =
        Send<T, Value, Send<T, Value, Send<T, Value, Send<T, Value, Send<T, Value, AheadSource>>>>>;

    struct AheadSource(Receive<T, Ready, Select<T, AheadChoice>>);

    enum AheadChoice {
        Value(Value, AheadSource),
        Stop(Stop, CatchUp),
    }

    type CatchUp = Receive<
        T,
        Ready,
        Receive<T, Ready, Receive<T, Ready, Receive<T, Ready, Receive<T, Ready, End>>>>,
    >;
}
pub use roles::*;

/// Sends `count` values, each when it is asked for.
///
/// # Errors
///
/// If the session fails.
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
/// If the session fails.
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

/// Asks for values until the source stops, and returns their sum.
///
/// # Errors
///
/// If the session fails.
pub async fn sink(role: &mut T) -> Result<i32> {
    try_run(role, async |mut s: TSession<'_>| {
        let mut sum = 0;
        loop {
            s = match s.send(Ready).await?.branch().await? {
                TValueChoice::Value(Value(value), next) => {
                    sum += value;
                    next
                }
                TValueChoice::Stop(Stop, end) => return Ok((sum, end)),
            };
        }
    })
    .await
}
