//! The roles and sessions of `hybrid/three_adder.rs` without a protocol: the build checks them
//! together.

use rumpsteak_runtime::{Channel, Message, Role, Roles, session};

#[derive(Roles)]
#[closed_system]
pub struct Roles {
    pub a: A,
    pub b: B,
    pub c: C,
}

#[derive(Role)]
#[message(Label)]
pub struct A {
    #[route(B)]
    b: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Role)]
#[message(Label)]
pub struct B {
    #[route(A)]
    a: Channel<Label>,
    #[route(C)]
    c: Channel<Label>,
}

#[derive(Role)]
#[message(Label)]
pub struct C {
    #[route(A)]
    a: Channel<Label>,
    #[route(B)]
    b: Channel<Label>,
}

#[derive(Debug, Message)]
pub enum Label {
    Add(Add),
    Sum(Sum),
}

#[derive(Debug)]
pub struct Add(pub i32);

#[derive(Debug)]
pub struct Sum(pub i32);

#[session(A)]
pub type ASession = Send<B, Add, Receive<B, Add, Send<C, Add, Receive<C, Sum, End>>>>;

#[session(B)]
pub type BSession = Receive<A, Add, Send<A, Add, Send<C, Add, Receive<C, Sum, End>>>>;

#[session(C)]
pub type CSession = Receive<A, Add, Receive<B, Add, Send<A, Sum, Send<B, Sum, End>>>>;

include!("../processes/three_adder.rs");
