//! One `return` has no end.

use rumpsteak::Ended;
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong};

pub async fn client(s: Client<'_>, hurry: bool) -> Ended<'_, C, Option<i32>> {
    let s = s.send(Ping(1)).await?;
    if hurry {
        return s.end(None);
    }
    let (Pong(answer), end) = s.receive().await?;
    end.end(Some(answer))
}

fn main() {}
