//! The label may go to either of two peers, and the call names none.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::pool::{Boss, Dispatcher, Halt, Job};

pub async fn boss(role: &mut Boss) -> Result<()> {
    try_run(role, async |s: Dispatcher<'_>| {
        let (_, s) = s.select(Job(1)).await?.receive().await?;
        Ok(((), s.select(Halt).await?.send(Halt).await?))
    })
    .await
}

fn main() {}
