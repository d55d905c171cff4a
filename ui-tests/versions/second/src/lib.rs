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
