//! A sender alone carries no mark of the session.

use rumpsteak::{Channel, Message, Role};

#[derive(Message)]
pub struct Note;

use futures::channel::mpsc::UnboundedSender;

#[derive(Role)]
#[message(Note)]
pub struct A(#[route(B)] UnboundedSender<Note>);

#[derive(Role)]
#[message(Note)]
pub struct B(#[route(A)] Channel<Note>);

fn main() {}
