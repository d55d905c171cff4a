//! `Label` is no message type.

use rumpsteak::{Channel, Role};

pub enum Label {}

#[derive(Role)]
#[message(Label)]
pub struct A(#[route(B)] Channel<Label>);

#[derive(Role)]
#[message(Label)]
pub struct B(#[route(A)] Channel<Label>);

fn main() {}
