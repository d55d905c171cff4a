//! A label is a type of its own.

use rumpsteak::Message;

#[derive(Message)]
pub enum Label {
    Add(i32, i32),
}

fn main() {}
