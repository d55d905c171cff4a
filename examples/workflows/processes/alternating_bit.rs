// The processes of the alternating bit, the same in all workflows.

use std::convert::Infallible;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

async fn sender(mut s: SSession<'_>) -> Ended<'_, S, Infallible> {
    for data in (0_u8..).step_by(2) {
        let mut answer = s.send(D0(vec![data])).await?.branch().await?;
        s = loop {
            answer = match answer {
                // Sends the second one, repeatedly if necessary.
                SA0Choice::A0(A0, next) => next.send(D1(vec![data + 1])).await?.branch().await?,
                SA0Choice::A1(A1, next) => break next,
            };
        };
    }
    unreachable!("the sender has no last data")
}

async fn receiver(mut s: RSession<'_>, done: oneshot::Sender<i32>) -> Ended<'_, R, Infallible> {
    let mut received = Vec::new();
    for _ in 0..2 {
        let (D0(data), next) = s.receive().await?;
        received.extend(data);
        // Ignores the second one the first time.
        let (D1(_), next) = next.select(A0).await?.receive().await?;
        let (D1(data), next) = next.select(A0).await?.receive().await?;
        received.extend(data);
        s = next.select(A1).await?;
    }
    assert_eq!(received, [0, 1, 2, 3]);
    let _ = done.send(received.into_iter().map(i32::from).sum());
    std::future::pending().await
}

/// The sum of the first four bytes.
pub async fn run() -> Result<i32> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    tokio::select! {
        stopped = roles.run(sender, |session| receiver(session, done)) => match stopped?.0 {},
        Ok(sum) = finished => Ok(sum),
    }
}
