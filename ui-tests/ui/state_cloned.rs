//! States are not `Clone`.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong};

pub async fn client(role: &mut C) -> Result<i32> {
    try_run(role, async |s: Client<'_>| {
        let spare = s.clone();
        s.send(Ping(1)).await?;
        let (Pong(answer), end) = spare.send(Ping(2)).await?.receive().await?;
        Ok((answer, end))
    })
    .await
}

fn main() {}
