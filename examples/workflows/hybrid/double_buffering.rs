//! The roles and sessions of `protocols/double_buffering.scr`, by hand: the build compares them
//! with the protocol.

use rumpsteak_runtime::{Channel, Message, Role, Roles, session};

#[derive(Roles)]
pub struct Roles {
    pub s: S,
    pub k: K,
    pub t: T,
}

#[derive(Role)]
#[protocol(DoubleBuffering::s)]
#[message(Label)]
pub struct S {
    #[route(K)]
    k: Channel<Label>,
}

#[derive(Role)]
#[protocol(DoubleBuffering::k)]
#[message(Label)]
pub struct K {
    #[route(S)]
    s: Channel<Label>,
    #[route(T)]
    t: Channel<Label>,
}

#[derive(Role)]
#[protocol(DoubleBuffering::t)]
#[message(Label)]
pub struct T {
    #[route(K)]
    k: Channel<Label>,
}

#[derive(Debug, Message)]
pub enum Label {
    Ready(Ready),
    Value(Value),
}

#[derive(Debug)]
pub struct Ready;

#[derive(Debug)]
pub struct Value(pub i32);

#[session(S)]
pub struct SSession(Receive<K, Ready, Send<K, Value, Self>>);

#[session(K)]
pub type KSession = Send<S, Ready, KLoop>;

#[session]
pub struct KLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);

#[session(T)]
pub struct TSession(Send<K, Ready, Receive<K, Value, Self>>);

include!("../processes/double_buffering.rs");
