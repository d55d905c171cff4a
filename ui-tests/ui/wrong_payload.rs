//! `Ping` carries an `i32`.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong};

pub async fn client(role: &mut C) -> Result<()> {
    try_run(role, async |s: Client<'_>| {
        let (Pong(_), end) = s.send(Ping("one")).await?.receive().await?;
        Ok(((), end))
    })
    .await
}

fn main() {}
