//! The process returns nothing after the last action.

use rumpsteak::Ended;
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong};

pub async fn client(s: Client<'_>) -> Ended<'_, C> {
    let (Pong(_), _end) = s.send(Ping(1)).await?.receive().await?;
}

fn main() {}
