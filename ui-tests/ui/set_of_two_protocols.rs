//! `A` plays in `Ping`, `B` in `Ring`.

use rumpsteak::{Channel, Message, Role, Roles};

#[derive(Message)]
pub struct Note;

#[derive(Roles)]
pub struct Roles {
    pub a: A,
    pub b: B,
}

#[derive(Role)]
#[protocol(Ping::c)]
#[message(Note)]
pub struct A(#[route(B)] Channel<Note>);

#[derive(Role)]
#[protocol(Ring::x)]
#[message(Note)]
pub struct B(#[route(A)] Channel<Note>);

fn main() {}
