// The processes of the alternating bit, the same in all workflows.

use std::convert::Infallible;

use rumpsteak_runtime::{Result, try_run};
use tokio::sync::oneshot;

async fn sender(role: &mut S) -> Result<Infallible> {
    try_run(role, async |mut s: SSession<'_>| {
        for data in (0_u8..).step_by(2) {
            let mut answer = s.send(D0(vec![data])).await?.branch().await?;
            s = loop {
                answer = match answer {
                    // Sends the second one, again if need be.
                    SA0OrA1::A0(A0, next) => next.send(D1(vec![data + 1])).await?.branch().await?,
                    SA0OrA1::A1(A1, next) => break next,
                };
            };
        }
        unreachable!("the sender has no last data")
    })
    .await
}

async fn receiver(role: &mut R, done: oneshot::Sender<i32>) -> Result<Infallible> {
    try_run(role, async |mut s: RSession<'_>| {
        let mut received = Vec::new();
        for _ in 0..2 {
            let (D0(data), next) = s.receive().await?;
            received.extend(data);
            // Takes the second one only when it comes again.
            let (D1(_), next) = next.select(A0).await?.receive().await?;
            let (D1(data), next) = next.select(A0).await?.receive().await?;
            received.extend(data);
            s = next.select(A1).await?;
        }
        assert_eq!(received, [0, 1, 2, 3]);
        let _ = done.send(received.into_iter().map(i32::from).sum());
        std::future::pending().await
    })
    .await
}

/// The sum of the first four bytes.
pub async fn run() -> Result<i32> {
    let Roles { mut s, mut r } = Roles::default();
    let (done, finished) = oneshot::channel();
    tokio::select! {
        stopped = async { tokio::try_join!(sender(&mut s), receiver(&mut r, done)) } => match stopped?.0 {},
        Ok(sum) = finished => Ok(sum),
    }
}
