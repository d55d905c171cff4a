//! Only the root was verified as a whole. A part of it cannot be run alone.

use rumpsteak::{Result, try_run, states::{End, Receive}};
use rumpsteak_ui_tests::ping::{C, Pong, S};

pub async fn client(role: &mut C) -> Result<i32> {
    try_run(role, async |s: Receive<'_, C, S, Pong, End<'_, C>>| {
        let (Pong(answer), end) = s.receive().await?;
        Ok((answer, end))
    })
    .await
}

fn main() {}
