//! The build script takes `Rest` for the one in `seen`; rustc takes the one that the macro makes.

use rumpsteak::{Channel, Message, Role, session, states::End};
use seen::*;

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

mod seen {
    use super::{Pong, S, session};

    #[session]
    pub type Rest = Receive<S, Pong, End>;
}

macro_rules! rest {
    () => {
        pub type Rest<'s, R> = End<'s, R>;
    };
}

rest!();

#[session(C)]
pub type Client = Send<S, Ping, Rest>;

#[session(S)]
pub type Server = Receive<C, Ping, Send<C, Pong, End>>;

fn main() {}
