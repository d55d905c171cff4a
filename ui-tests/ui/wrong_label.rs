//! The session sends `Ping`, not `Pong`.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Client, Pong};

pub async fn client(role: &mut C) -> Result<()> {
    try_run(role, async |s: Client<'_>| {
        let (Pong(_), end) = s.send(Pong(1)).await?.receive().await?;
        Ok(((), end))
    })
    .await
}

fn main() {}
