// The processes of the ring with choice, the same in all workflows.

use std::convert::Infallible;

use rumpsteak_runtime::{Result, try_run};
use tokio::sync::oneshot;

async fn begin(role: &mut A, done: oneshot::Sender<i32>) -> Result<Infallible> {
    try_run(role, async |mut s: ASession<'_>| {
        let mut held = 7;
        for _ in 0..3 {
            s = match s.send(Add(held)).await?.branch().await? {
                AAddOrSub::Add(Add(value), next) => {
                    held += value;
                    next
                }
                AAddOrSub::Sub(Sub(value), next) => {
                    held -= value;
                    next
                }
            };
        }
        let _ = done.send(held);
        std::future::pending().await
    })
    .await
}

async fn choose(role: &mut B) -> Result<Infallible> {
    try_run(role, async |mut s: BSession<'_>| {
        loop {
            let (Add(value), next) = s.receive().await?;
            s = if value < 10 {
                next.select(Add(value)).await?
            } else {
                next.select(Sub(1)).await?
            };
        }
    })
    .await
}

async fn pass_on(role: &mut C) -> Result<Infallible> {
    try_run(role, async |mut s: CSession<'_>| {
        loop {
            s = match s.branch().await? {
                CAddOrSub::Add(add, next) => next.send(add).await?,
                CAddOrSub::Sub(sub, next) => next.send(sub).await?,
            };
        }
    })
    .await
}

/// What the first role holds after three laps: 7 + 7 - 1 - 1.
pub async fn run() -> Result<i32> {
    let Roles {
        mut a,
        mut b,
        mut c,
    } = Roles::default();
    let (done, finished) = oneshot::channel();
    tokio::select! {
        stopped = async { tokio::try_join!(begin(&mut a, done), choose(&mut b), pass_on(&mut c)) } => match stopped?.0 {},
        Ok(held) = finished => Ok(held),
    }
}
