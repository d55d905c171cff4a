//! Both processes run sessions of `S`.

use rumpsteak::{Ended, Result};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong, Roles, S, Server};

pub async fn client(s: Client<'_>) -> Ended<'_, C> {
    let (Pong(_), end) = s.send(Ping(1)).await?.receive().await?;
    end.end(())
}

async fn server(s: Server<'_>) -> Ended<'_, S> {
    let (Ping(question), s) = s.receive().await?;
    s.send(Pong(question)).await?.end(())
}

pub async fn both() -> Result<()> {
    Roles::default().run(server, server).await?;
    Ok(())
}

fn main() {}
