//! Both play `c`.

use rumpsteak::{Message, Role, Roles};

#[derive(Message)]
pub struct Note;

#[derive(Roles)]
pub struct Roles(A, B);

#[derive(Role)]
#[protocol(Ping::c)]
#[message(Note)]
pub struct A;

#[derive(Role)]
#[protocol(Ping::c)]
#[message(Note)]
pub struct B;

fn main() {}
