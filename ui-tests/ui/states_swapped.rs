//! States of different roles, or at different places of a session, cannot change places.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Roles, S, Server};

pub async fn both(Roles { mut c, mut s }: Roles) -> Result<()> {
    let role: &mut C = &mut c;
    try_run(role, async |mut client: Client<'_>| {
        let role: &mut S = &mut s;
        try_run(role, async |mut server: Server<'_>| {
            (client, server) = (server, client);
            let (Ping(_), server) = server.receive().await?;
            Ok(((), server.send(never()).await?))
        })
        .await?;
        let (_, end) = client.send(Ping(1)).await?.receive().await?;
        Ok(((), end))
    })
    .await
}

fn never<T>() -> T {
    loop {}
}

fn main() {}
