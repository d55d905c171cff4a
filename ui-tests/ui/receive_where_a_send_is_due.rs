//! The session sends first.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong};

pub async fn client(role: &mut C) -> Result<i32> {
    try_run(role, async |s: Client<'_>| {
        let (Pong(answer), s) = s.receive().await?;
        let end = s.send(Ping(1)).await?;
        Ok((answer, end))
    })
    .await
}

fn main() {}
