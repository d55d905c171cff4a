//! One struct, two fields.

use rumpsteak::{Message, Role, Roles};

#[derive(Message)]
pub struct Note;

#[derive(Roles)]
pub struct Roles(A, A);

#[derive(Role)]
#[message(Note)]
pub struct A;

fn main() {}
