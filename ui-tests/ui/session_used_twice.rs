//! A state allows one action: `send` consumes it.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{Client, Ping, Pong, C};

pub async fn client(role: &mut C) -> Result<i32> {
    try_run(role, async |s: Client<'_>| {
        s.send(Ping(1)).await?;
        let (Pong(answer), end) = s.send(Ping(2)).await?.receive().await?;
        Ok((answer, end))
    })
    .await
}

fn main() {}
