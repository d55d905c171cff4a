//! [The guide]: crate::guide
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
//!
//! # What is guaranteed
//!
//! * Incompatible ends (another protocol or version, other labels, a payload with other fields,
//!   another codec) are refused before any message.
//! * A connection that breaks is replaced within [`Limits::resume`]. No message is lost, doubled or
//!   out of order.
//! * A peer that is lost for good, or breaks the rules, ends the session with a [`NetError`] that
//!   names the peer. Other sessions of the host go on.
//! * Nothing that a peer sends makes this end panic or wait for ever.
//!
//! Transports with certificates authenticate the other end.
//!
//! Everything here needs a tokio runtime with time, and panics without one. Dropping a future is
//! safe at any time, unless the documentation of a function says otherwise.

#[macro_use(impl_debug)]
extern crate rumpsteak_runtime;

/// The crates whose types the interface names.
#[cfg(feature = "nats")]
pub use async_nats;
pub use {bytes, futures_core, futures_sink, tokio, tokio_util};

mod address;
mod error;
#[cfg(not(doctest))]
pub mod guide;
mod host;
#[cfg(feature = "nats")]
mod journal;
mod limits;
mod platform;
mod route;
mod session;
pub mod transport;
mod wire;

pub use address::{Address, AddressError, Directory};
pub use error::{CodecError, NetError, Refusal};
pub use host::Host;
#[cfg(feature = "nats")]
pub use journal::Journal;
pub use limits::Limits;
pub use route::{Bridge, Inbox, Net, Outbox, Peer};
#[cfg(feature = "nats")]
pub use session::Stored;
pub use session::{Invitation, Join, Joined, Joins, Parcel, Service};
pub use wire::{Blob, Codec, Portable, Postcard};
