//! A process that stops in the middle has no end to return.

use rumpsteak::Ended;
use rumpsteak_ui_tests::ping::{C, Client, Ping};

pub async fn client(s: Client<'_>) -> Ended<'_, C> {
    s.send(Ping(1)).await?;
    Ok(())
}

fn main() {}
