//! The producer may say `stop`, which this consumer does not expect.

use rumpsteak::{Channel, Message, Role, session};

#[derive(Role)]
#[protocol(Numbers::p)]
#[message(Label)]
pub struct P(#[route(Q)] Channel<Label>);

#[derive(Role)]
#[protocol(Numbers::q)]
#[message(Label)]
pub struct Q(#[route(P)] Channel<Label>);

#[derive(Message)]
pub enum Label {
    Number(Number),
    Stop(Stop),
    Sum(Sum),
}

pub struct Number(i32);
pub struct Stop;
pub struct Sum(i32);

#[session(P)]
pub type Producer = Select<Q, More>;

#[session]
pub enum More {
    Number(Number, Producer),
    Stop(Stop, Receive<Q, Sum, End>),
}

#[session(Q)]
pub type Consumer = Branch<P, Next>;

#[session]
pub enum Next {
    Number(Number, Consumer),
}

fn main() {}
