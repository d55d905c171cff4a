//! The roles and sessions of `hybrid/ring_choice.rs` without a protocol: the build checks them
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
    Sub(Sub),
}

#[derive(Debug)]
pub struct Add(pub i32);

#[derive(Debug)]
pub struct Sub(pub i32);

#[session(A)]
pub type ASession = Send<B, Add, Branch<C, AAddOrSub>>;

#[session]
pub enum AAddOrSub {
    Add(Add, ASession),
    Sub(Sub, ASession),
}

#[session(B)]
pub type BSession = Receive<A, Add, Select<C, BChoice>>;

#[session]
pub enum BChoice {
    Add(Add, BSession),
    Sub(Sub, BSession),
}

#[session(C)]
pub type CSession = Branch<B, CAddOrSub>;

#[session]
pub enum CAddOrSub {
    Add(Add, Send<A, Add, Branch<B, Self>>),
    Sub(Sub, Send<A, Sub, Branch<B, Self>>),
}

include!("../processes/ring_choice.rs");
