//! A role does not talk to itself.

use rumpsteak::{Channel, Message, Role};

#[derive(Message)]
pub struct Note;

#[derive(Role)]
#[message(Note)]
pub struct A(#[route(A)] Channel<Note>);

fn main() {}
