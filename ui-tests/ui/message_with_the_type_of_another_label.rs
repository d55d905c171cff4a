//! A variant is copied, and its type is not changed.

use rumpsteak::Message;

#[derive(Message)]
pub enum Label {
    Close(Close),
    Closed(Close),
}

pub struct Close;
pub struct Closed;

fn main() {}
