//! A role does not talk to itself.

use rumpsteak_runtime::{Channel, Message, Role};

#[derive(Message)]
pub struct Note;

#[derive(Role)]
#[message(Note)]
pub struct A(#[route(A)] Channel<Note>);

fn main() {}
