//! A role says what it exchanges.

use rumpsteak::{Channel, Message, Role};

#[derive(Message)]
pub struct Note;

#[derive(Role)]
pub struct A(#[route(B)] Channel<Note>);

#[derive(Role)]
#[message(Note)]
pub struct B(#[route(A)] Channel<Note>);

fn main() {}
