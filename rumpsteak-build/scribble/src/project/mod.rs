//! What one role does in a protocol.

mod minimise;
pub(crate) mod projection;
