//! The roles of `Swap`, whatever their sessions are.

use rumpsteak_net::Net;
use rumpsteak_runtime::{Message, Role};
use serde::{Deserialize, Serialize};

/// Asks.
#[derive(Debug, Role)]
#[protocol(Swap::c)]
#[message(Swapped)]
pub struct Asks(#[route(Tells)] Net<Swapped>);

/// Tells.
#[derive(Debug, Role)]
#[protocol(Swap::s)]
#[message(Swapped)]
pub struct Tells(#[route(Asks)] Net<Swapped>);

/// What they say.
#[derive(Debug, Message, Serialize, Deserialize)]
pub enum Swapped {
    /// From `c` to `s`.
    Ask(Ask),
    /// From `s` to `c`.
    Tell(Tell),
}

/// From `c` to `s`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ask;
/// From `s` to `c`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tell;
