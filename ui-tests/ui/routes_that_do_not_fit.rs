//! Two ends that both only receive.

use rumpsteak::{Message, Role, Roles, channel::Receiver};

#[derive(Message)]
pub struct Note;

#[derive(Roles)]
pub struct Roles {
    pub a: A,
    pub b: B,
}

#[derive(Role)]
#[message(Note)]
pub struct A(#[route(B)] Receiver<Note>);

#[derive(Role)]
#[message(Note)]
pub struct B(#[route(A)] Receiver<Note>);

fn main() {}
