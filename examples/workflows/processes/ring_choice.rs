// The processes of the ring with choice, the same in all workflows.

use std::convert::Infallible;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

async fn begin(mut s: ASession<'_>, done: oneshot::Sender<i32>) -> Ended<'_, A, Infallible> {
    let mut held = 7;
    for _ in 0..3 {
        s = match s.send(Add(held)).await?.branch().await? {
            AAddChoice::Add(Add(value), next) => {
                held += value;
                next
            }
            AAddChoice::Sub(Sub(value), next) => {
                held -= value;
                next
            }
        };
    }
    let _ = done.send(held);
    std::future::pending().await
}

async fn choose(mut s: BSession<'_>) -> Ended<'_, B, Infallible> {
    loop {
        let (Add(value), next) = s.receive().await?;
        s = if value < 10 { next.select(Add(value)).await? } else { next.select(Sub(1)).await? };
    }
}

async fn pass_on(mut s: CSession<'_>) -> Ended<'_, C, Infallible> {
    loop {
        s = match s.branch().await? {
            CAddChoice::Add(add, next) => next.send(add).await?,
            CAddChoice::Sub(sub, next) => next.send(sub).await?,
        };
    }
}

/// The value of the first role after three laps: 7 + 7 - 1 - 1.
pub async fn run() -> Result<i32> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    tokio::select! {
        stopped = roles.run(|session| begin(session, done), choose, pass_on) => match stopped?.0 {},
        Ok(held) = finished => Ok(held),
    }
}
