//! What travels over a connection: the handshake, and after it the frames of messages.

pub(crate) mod codec;
#[cfg(feature = "compat")]
mod compat;
pub(crate) mod frame;
pub(crate) mod handshake;
pub(crate) mod schema;
pub(crate) mod snapshot;
