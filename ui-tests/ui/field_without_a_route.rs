//! A role holds its routes and nothing else.

use rumpsteak::{Channel, Message, Role};

#[derive(Message)]
pub struct Note;

#[derive(Role)]
#[message(Note)]
pub struct A {
    #[route(B)]
    b: Channel<Note>,
    count: usize,
}

#[derive(Role)]
#[message(Note)]
pub struct B(#[route(A)] Channel<Note>);

fn main() {}
