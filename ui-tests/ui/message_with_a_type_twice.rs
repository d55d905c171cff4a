//! A type cannot stand for two labels.

use rumpsteak::Message;

#[derive(Message)]
pub enum Label {
    Sum(Number),
    Difference(Number),
}

pub struct Number(i32);

fn main() {}
