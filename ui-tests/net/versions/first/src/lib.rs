//! The first version of `Relay`.

#[path = "../../roles.rs"]
mod roles;

use rumpsteak_runtime::session;

pub use self::roles::*;

/// What `s` does.
#[session(S)]
pub type Server = Receive<C, Order, Send<L, Note, Send<C, Price, End>>>;

/// What `l` does.
#[session(L)]
pub type Ledger = Receive<S, Note, Send<C, Total, End>>;

#[path = "../../swap.rs"]
mod swap;

pub use self::swap::*;

/// Hears before it asks: safe only with who tells before it is asked.
#[session(Asks)]
pub type AsksLate = Receive<Tells, Tell, Send<Tells, Ask, End>>;

/// Tells before it is asked.
#[session(Tells)]
pub type TellsEarly = Send<Asks, Tell, Receive<Asks, Ask, End>>;

#[path = "../../stamp.rs"]
mod stamp;

use serde::{Deserialize, Serialize};

pub use self::stamp::*;

/// A time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stamp {
    /// From 0 to 23.
    pub hour: u32,
    /// From 0 to 59.
    pub minute: u32,
}
