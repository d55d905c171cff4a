//! A role never receives what it sends.

use rumpsteak::states::Raced;
use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::cancel::{Answer, Cancel, Cancelled, Received, Thanks, Work, Worker, Working};

pub async fn worker(role: &mut Worker) -> Result<()> {
    try_run(role, async |s: Working<'_>| {
        let (_, s) = s.receive().await?;
        match s.race(async { Answer(1) }).await? {
            Raced::Heard(Work::Cancel(Cancel, s)) => Ok(((), s.send(Cancelled).await?)),
            Raced::Heard(Work::Answer(Answer(_), s)) => Ok(match s.branch().await? {
                Received::Thanks(Thanks, end) => ((), end),
                Received::Cancel(Cancel, end) => ((), end),
            }),
        }
    })
    .await
}

fn main() {}
