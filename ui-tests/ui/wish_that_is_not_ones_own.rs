//! The worker sends a label that only its peer may send.

use rumpsteak::states::Raced;
use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::cancel::{Cancel, Cancelled, Work, Worker, Working};

pub async fn worker(role: &mut Worker) -> Result<()> {
    try_run(role, async |s: Working<'_>| {
        let (_, s) = s.receive().await?;
        match s.race(async { Cancel }).await? {
            Raced::Heard(Work::Cancel(Cancel, s)) => Ok(((), s.send(Cancelled).await?)),
            Raced::Sent(s) => Ok(((), s)),
        }
    })
    .await
}

fn main() {}
