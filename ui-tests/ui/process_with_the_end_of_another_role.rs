//! The end of `S` does not end a session of `C`.

use rumpsteak::Ended;
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong, Server};

pub async fn client<'s>(s: Client<'s>, other: Server<'s>) -> Ended<'s, C> {
    let (Ping(question), other) = other.receive().await?;
    drop(s);
    other.send(Pong(question)).await?.end(())
}

fn main() {}
