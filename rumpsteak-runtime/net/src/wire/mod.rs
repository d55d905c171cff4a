//! The format of a connection: the handshake, and after it frames of messages.

mod blob;
mod codec;
#[cfg(feature = "compat")]
mod compat;
pub(crate) mod frame;
mod handshake;
pub(crate) mod schema;
mod snapshot;

pub use self::blob::Blob;
pub(crate) use self::blob::reading;
pub use self::codec::{Codec, Portable, Postcard};
pub(crate) use self::frame::{Amount, Batch, Frame, Grant, Messages};
pub(crate) use self::handshake::*;
pub(crate) use self::snapshot::*;
