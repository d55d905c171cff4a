//! The process does not receive the answer.

use rumpsteak::Ended;
use rumpsteak_ui_tests::ping::{C, Client, Ping};

pub async fn client(s: Client<'_>) -> Ended<'_, C> {
    s.send(Ping(1)).await?.end(())
}

fn main() {}
