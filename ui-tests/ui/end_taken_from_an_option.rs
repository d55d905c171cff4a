//! `Option::take` may return `None`, so it does not prove that the session ended.

use rumpsteak::{Result, try_run, states::End};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong};

pub async fn client(role: &mut C, hurry: bool) -> Result<()> {
    try_run(role, async |s: Client<'_>| {
        let mut slot: Option<End<'_, C>> = None;
        if !hurry {
            let (Pong(_), end) = s.send(Ping(1)).await?.receive().await?;
            slot = Some(end);
        }
        Ok(((), slot.take()))
    })
    .await
}

fn main() {}
