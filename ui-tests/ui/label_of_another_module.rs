//! A label of another module is another message.

#[rumpsteak::protocol(Ping)]
mod first {}

#[rumpsteak::protocol(Ping)]
mod second {}

use rumpsteak::Ended;

pub async fn client(s: first::CSession<'_>) -> Ended<'_, first::C> {
    let (_, end) = s.send(second::Ping(1)).await?.receive().await?;
    end.end(())
}

fn main() {}
