// The processes of double buffering, the same in all workflows.

use std::convert::Infallible;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

async fn source(mut s: SSession<'_>) -> Ended<'_, S, Infallible> {
    for value in 1.. {
        let (Ready, next) = s.receive().await?;
        s = next.send(Value(value)).await?;
    }
    unreachable!("the source has no last value")
}

async fn kernel(s: KSession<'_>) -> Ended<'_, K, Infallible> {
    let mut s = s.send(Ready).await?;
    loop {
        let (Value(value), next) = s.send(Ready).await?.receive().await?;
        let (Ready, next) = next.receive().await?;
        s = next.send(Value(10 * value)).await?;
    }
}

async fn sink(mut s: TSession<'_>, done: oneshot::Sender<i32>) -> Ended<'_, T, Infallible> {
    let mut sum = 0;
    for _ in 0..5 {
        let (Value(value), next) = s.send(Ready).await?.receive().await?;
        sum += value;
        s = next;
    }
    // The protocol goes on for ever; the test stops when it has seen enough.
    let _ = done.send(sum);
    std::future::pending().await
}

/// The sum of the first five values at the sink.
pub async fn run() -> Result<i32> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    tokio::select! {
        stopped = roles.run(source, kernel, |session| sink(session, done)) => match stopped?.0 {},
        Ok(sum) = finished => Ok(sum),
    }
}
