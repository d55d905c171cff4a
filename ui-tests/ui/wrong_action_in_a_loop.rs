//! A loop without a choice is a struct, which tells of the right action as other states do.

use rumpsteak::Result;

#[rumpsteak::closed_system]
mod pings {
    #[session(C)]
    struct Client(Send<S, Ping, Receive<S, Pong, Self>>);
    #[session(S)]
    struct Server(Receive<C, Ping, Send<C, Pong, Self>>);
    pub struct Ping;
    pub struct Pong;
}
use pings::{Client, Server};

pub async fn client(s: Client<'_>) -> Result<()> {
    s.receive().await
}

pub async fn server(s: Server<'_>) -> Result<()> {
    s.branch().await
}

fn main() {}
