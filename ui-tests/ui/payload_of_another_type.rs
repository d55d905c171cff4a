//! The protocol says `ping(i32)`.

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

pub struct Ping(String);
pub struct Pong(i32);

#[session(C)]
pub type Client = Send<S, Ping, Receive<S, Pong, End>>;

#[session(S)]
pub type Server = Receive<C, Ping, Send<C, Pong, End>>;

fn main() {}
