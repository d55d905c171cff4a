//! The process returns a state in the middle of the session.

use rumpsteak::Ended;
use rumpsteak_ui_tests::ping::{C, Client, Ping};

pub async fn client(s: Client<'_>) -> Ended<'_, C> {
    let s = s.send(Ping(1)).await?;
    Ok(((), s))
}

fn main() {}
