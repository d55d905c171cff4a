//! The roles and sessions of `hybrid/alternating_bit.rs` without a protocol: the build checks them
//! together.

use rumpsteak_runtime::{Channel, Message, Role, Roles, session};

#[derive(Roles)]
#[closed_system]
pub struct Roles {
    pub s: S,
    pub r: R,
}

#[derive(Role)]
#[message(Label)]
pub struct S {
    #[route(R)]
    r: Channel<Label>,
}

#[derive(Role)]
#[message(Label)]
pub struct R {
    #[route(S)]
    s: Channel<Label>,
}

#[derive(Debug, Message)]
pub enum Label {
    D0(D0),
    A0(A0),
    D1(D1),
    A1(A1),
}

#[derive(Debug)]
pub struct D0(pub std::vec::Vec<u8>);

#[derive(Debug)]
pub struct A0;

#[derive(Debug)]
pub struct D1(pub std::vec::Vec<u8>);

#[derive(Debug)]
pub struct A1;

#[session(S)]
pub type SSession = Send<R, D0, Branch<R, SA0OrA1>>;

#[session]
pub enum SA0OrA1 {
    A0(A0, Send<R, D1, Branch<R, Self>>),
    A1(A1, SSession),
}

#[session(R)]
pub type RSession = Receive<S, D0, Select<S, RA0OrA1>>;

#[session]
pub enum RA0OrA1 {
    A0(A0, Receive<S, D1, Select<S, Self>>),
    A1(A1, RSession),
}

include!("../processes/alternating_bit.rs");
