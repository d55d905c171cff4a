//! Two modules of one protocol share nothing: a role runs the sessions of its own module.

#[rumpsteak::protocol(Ping)]
mod first {}

#[rumpsteak::protocol(Ping)]
mod second {}

use rumpsteak::{Result, try_run};

pub async fn client(role: &mut first::C) -> Result<()> {
    try_run(role, async |s: second::CSession<'_>| {
        let (_, end) = s.send(second::Ping(1)).await?.receive().await?;
        end.end(())
    })
    .await
}

fn main() {}
