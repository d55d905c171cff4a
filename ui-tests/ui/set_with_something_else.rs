//! `String` is not a role.

use rumpsteak::{Message, Role, Roles};

#[derive(Message)]
pub struct Note;

#[derive(Roles)]
pub struct Roles(A, String);

#[derive(Role)]
#[message(Note)]
pub struct A;

fn main() {}
