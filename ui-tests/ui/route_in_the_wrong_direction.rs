//! The client cannot send over a `Receiver`.

use rumpsteak::{Channel, Message, Result, Role, session, try_run, channel::Receiver};

#[derive(Role)]
#[protocol(Ping::c)]
#[message(Label)]
pub struct C {
    #[route(S)]
    s: Receiver<Label>,
}

#[derive(Role)]
#[protocol(Ping::s)]
#[message(Label)]
pub struct S {
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Message)]
pub enum Label {
    Ping(Ping),
    Pong(Pong),
}

pub struct Ping(i32);
pub struct Pong(i32);

#[session(C)]
pub type Client = Send<S, Ping, Receive<S, Pong, End>>;

#[session(S)]
pub type Server = Receive<C, Ping, Send<C, Pong, End>>;

pub async fn client(role: &mut C) -> Result<()> {
    try_run(role, async |s: Client<'_>| {
        let (Pong(_), end) = s.send(Ping(1)).await?.receive().await?;
        Ok(((), end))
    })
    .await
}

fn main() {}
