//! The roles and sessions of `protocols/streaming.scr`, by hand: the build compares them with the
//! protocol.

use rumpsteak_runtime::{Channel, Message, Role, Roles, session};

#[derive(Roles)]
pub struct Roles {
    pub s: S,
    pub t: T,
}

#[derive(Role)]
#[protocol(Streaming::s)]
#[message(Label)]
pub struct S {
    #[route(T)]
    t: Channel<Label>,
}

#[derive(Role)]
#[protocol(Streaming::t)]
#[message(Label)]
pub struct T {
    #[route(S)]
    s: Channel<Label>,
}

#[derive(Debug, Message)]
pub enum Label {
    Ready(Ready),
    Value(Value),
    Stop(Stop),
}

#[derive(Debug)]
pub struct Ready;

#[derive(Debug)]
pub struct Value(pub i32);

#[derive(Debug)]
pub struct Stop;

#[session(S)]
pub type SSession = Receive<T, Ready, Select<T, SChoice>>;

#[session]
pub enum SChoice {
    Value(Value, SSession),
    Stop(Stop, End),
}

#[session(T)]
pub type TSession = Send<S, Ready, Branch<S, TValueOrStop>>;

#[session]
pub enum TValueOrStop {
    Value(Value, TSession),
    Stop(Stop, End),
}

include!("../processes/streaming.rs");
