//! The names that a module of a protocol has without an import. Its own items go before them.

pub use crate::channel::Channel;
