//! A version of `Relay` that differs from the first one in what comes first.

#[path = "../../roles.rs"]
mod roles;

use rumpsteak_runtime::session;

pub use self::roles::*;

/// What `s` does.
#[session(S)]
pub type Server = Receive<C, Order, Send<C, Price, Send<L, Note, End>>>;

/// What `l` does.
#[session(L)]
pub type Ledger = Receive<S, Note, Send<C, Total, End>>;

#[path = "../../swap.rs"]
mod swap;

pub use self::swap::*;

/// Asks first.
#[session(Asks)]
pub type AsksInTurn = Send<Tells, Ask, Receive<Tells, Tell, End>>;

/// Tells when it is asked.
#[session(Tells)]
pub type TellsInTurn = Receive<Asks, Ask, Send<Asks, Tell, End>>;

#[path = "../../stamp.rs"]
mod stamp;

use serde::{Deserialize, Serialize};

pub use self::stamp::*;

/// A time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stamp {
    /// From 0 to 59.
    pub minute: u32,
    /// From 0 to 23.
    pub hour: u32,
}
