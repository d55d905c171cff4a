//! `A` has a route to `B`, but not the other way round.

use rumpsteak::{Channel, Message, Role, Roles};

#[derive(Message)]
pub struct Note;

#[derive(Roles)]
pub struct Roles {
    pub a: A,
    pub b: B,
}

#[derive(Role)]
#[message(Note)]
pub struct A(#[route(B)] Channel<Note>);

#[derive(Role)]
#[message(Note)]
pub struct B;

fn main() {}
