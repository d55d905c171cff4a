//! A role is a struct.

use rumpsteak::{Message, Role};

#[derive(Message)]
pub struct Note;

#[derive(Role)]
#[message(Note)]
pub enum A {}

fn main() {}
