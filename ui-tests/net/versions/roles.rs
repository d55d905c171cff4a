//! The roles of `Relay`, in whichever version of it.

use rumpsteak_net::Net;
use rumpsteak_runtime::{Message, Role, session};
use serde::{Deserialize, Serialize};

/// Orders.
#[derive(Debug, Role)]
#[protocol(Relay::c)]
#[message(Label)]
pub struct C {
    #[route(S)]
    s: Net<Label>,
    #[route(L)]
    l: Net<Label>,
}

/// Prices.
#[derive(Debug, Role)]
#[protocol(Relay::s)]
#[message(Label)]
pub struct S {
    #[route(C)]
    c: Net<Label>,
    #[route(L)]
    l: Net<Label>,
}

/// Adds up.
#[derive(Debug, Role)]
#[protocol(Relay::l)]
#[message(Label)]
pub struct L {
    #[route(C)]
    c: Net<Label>,
    #[route(S)]
    s: Net<Label>,
}

/// What they say.
#[derive(Debug, Message, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as in the protocol")]
pub enum Label {
    Order(Order),
    Note(Note),
    Price(Price),
    Total(Total),
}

/// From `c` to `s`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order(pub u64);
/// From `s` to `l`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Note(pub u64);
/// From `s` to `c`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Price(pub u64);
/// From `l` to `c`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Total(pub u64);

/// What `c` does, in each version.
#[session(C)]
pub type Client = Send<S, Order, Receive<S, Price, Receive<L, Total, End>>>;
