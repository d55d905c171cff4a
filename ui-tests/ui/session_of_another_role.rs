//! `Server` is a session of `S`.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Ping, Pong, Server};

pub async fn client(role: &mut C) -> Result<()> {
    try_run(role, async |s: Server<'_>| {
        let (Ping(question), s) = s.receive().await?;
        Ok(((), s.send(Pong(question)).await?))
    })
    .await
}

fn main() {}
