//! `A` has a route to `B`, which the set lacks.

use rumpsteak::{Channel, Message, Role, Roles};

#[derive(Message)]
pub struct Note;

#[derive(Roles)]
pub struct Roles {
    pub a: A,
}

#[derive(Role)]
#[message(Note)]
pub struct A(#[route(B)] Channel<Note>);

#[derive(Role)]
#[message(Note)]
pub struct B(#[route(A)] Channel<Note>);

fn main() {}
