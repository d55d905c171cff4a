//! To the protocol, `value_one` and `ValueOne` are the same label.

use rumpsteak::Message;

#[derive(Message)]
pub enum Label {
    ValueOne(First),
    #[label("value_one")]
    Other(Second),
}

pub struct First;
pub struct Second;

fn main() {}
