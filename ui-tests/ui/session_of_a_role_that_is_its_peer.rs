//! The alias `Client` is a session of `C`, whatever role is written behind it.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{Client, Ping, S};

pub async fn client(role: &mut S) -> Result<()> {
    try_run(role, async |s: Client<'_, S>| {
        let (_, end) = s.send(Ping(1)).await?.receive().await?;
        end.end(())
    })
    .await
}

fn main() {}
