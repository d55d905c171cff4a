// The processes of double buffering, the same in all workflows.

use std::convert::Infallible;

use rumpsteak_runtime::{Result, try_run};
use tokio::sync::oneshot;

async fn source(role: &mut S) -> Result<Infallible> {
    try_run(role, async |mut s: SSession<'_>| {
        for value in 1.. {
            let (Ready, next) = s.receive().await?;
            s = next.send(Value(value)).await?;
        }
        unreachable!("the source has no last value")
    })
    .await
}

async fn kernel(role: &mut K) -> Result<Infallible> {
    try_run(role, async |s: KSession<'_>| {
        let mut s = s.send(Ready).await?;
        loop {
            let (Value(value), next) = s.send(Ready).await?.receive().await?;
            let (Ready, next) = next.receive().await?;
            s = next.send(Value(10 * value)).await?;
        }
    })
    .await
}

async fn sink(role: &mut T, done: oneshot::Sender<i32>) -> Result<Infallible> {
    try_run(role, async |mut s: TSession<'_>| {
        let mut sum = 0;
        for _ in 0..5 {
            let (Value(value), next) = s.send(Ready).await?.receive().await?;
            sum += value;
            s = next;
        }
        // The protocol goes on for ever; the test stops when it has seen enough.
        let _ = done.send(sum);
        std::future::pending().await
    })
    .await
}

/// The sum of the first five values at the sink.
pub async fn run() -> Result<i32> {
    let Roles {
        mut s,
        mut k,
        mut t,
    } = Roles::default();
    let (done, finished) = oneshot::channel();
    tokio::select! {
        stopped = async { tokio::try_join!(source(&mut s), kernel(&mut k), sink(&mut t, done)) } => match stopped?.0 {},
        Ok(sum) = finished => Ok(sum),
    }
}
