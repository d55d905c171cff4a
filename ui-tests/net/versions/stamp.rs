//! The roles of `Stamping`, whatever a `Stamp` is made of.

use rumpsteak_net::Net;
use rumpsteak_runtime::{Message, Role, session};
use serde::{Deserialize, Serialize};

use super::Stamp;

/// Stamps.
#[derive(Debug, Role)]
#[protocol(Stamping::c)]
#[message(Stamps)]
pub struct Stamper(#[route(Reader)] Net<Stamps>);

/// Reads stamps.
#[derive(Debug, Role)]
#[protocol(Stamping::s)]
#[message(Stamps)]
pub struct Reader(#[route(Stamper)] Net<Stamps>);

/// What they say.
#[derive(Debug, Message, Serialize, Deserialize)]
pub enum Stamps {
    /// The only one.
    Stamped(Stamped),
}

/// From `c` to `s`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stamped(pub Stamp);

/// What `c` does.
#[session(Stamper)]
pub type Stamping = Send<Reader, Stamped, End>;

/// What `s` does.
#[session(Reader)]
pub type Reading = Receive<Stamper, Stamped, End>;
