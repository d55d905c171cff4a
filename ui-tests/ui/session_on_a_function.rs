//! `#[session]` stands on types.

use rumpsteak::{Channel, Message, Role, session};

#[derive(Role)]
#[protocol(Ping::c)]
#[message(Label)]
pub struct C {
    #[route(S)]
    s: Channel<Label>,
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
pub fn client() {}

#[session(S)]
pub type Server = Receive<C, Ping, Send<C, Pong, End>>;

fn main() {}
