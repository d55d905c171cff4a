//! A version of `Relay` that does not fit to the first one.

#[path = "../../roles.rs"]
mod roles;

use rumpsteak_runtime::session;

pub use self::roles::*;

/// What `s` does.
#[session(S)]
pub type Server = Receive<C, Order, Send<L, Note, Send<L, Note, Send<C, Price, End>>>>;

/// What `l` does.
#[session(L)]
pub type Ledger = Receive<S, Note, Receive<S, Note, Send<C, Total, End>>>;
