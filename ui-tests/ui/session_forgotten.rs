//! A process that stops in the middle has no `End` to return.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Client, Ping};

pub async fn client(role: &mut C) -> Result<()> {
    try_run(role, async |s: Client<'_>| {
        s.send(Ping(1)).await?;
        Ok(())
    })
    .await
}

fn main() {}
