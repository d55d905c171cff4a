//! Verified sessions across processes and machines, over any transport.
//!
//! A role that was written for one process runs in a process of its own when its routes are
//! [`Net`]s and it has [joined](Host::join) a session: over TCP, a Unix socket, or in memory, which
//! is chosen when the program runs. Its process does not change, and what the build proved of it
//! still holds: every direction of a route is a queue that loses nothing, in the capacity of the
//! proof, whatever the transport's window is.
//!
//! ```text
//! let host = Host::new();
//! let k = host.join::<K>("job 42").peer("s", ["tcp://10.0.0.7:4000"]).connect().await?;
//! k.play(async |k| try_run(k, async |s: Kernel<'_>| …).await).await?;
//! ```
//!
//! # What is guaranteed
//!
//! * Ends that do not fit (another protocol, another version of it, other labels, a payload with
//!   other fields, another codec) are refused before any message.
//! * A connection that breaks is made again, within [`Limits::resume`]; no message is lost, doubled
//!   or out of order.
//! * A peer that is lost for good, or breaks the rules, ends the session with a [`NetError`] that
//!   names it; other sessions of the host go on.
//! * Nothing that a peer sends makes this end panic or wait for ever.
//!
//! Who is at the other end is checked by those transports that can. The [`guide`] has more.

mod address;
mod bridge;
mod codec;
#[cfg(feature = "compat")]
mod compat;
mod demand;
mod directory;
mod error;
mod frame;
mod guard;
#[cfg(not(doctest))]
pub mod guide;
mod handshake;
mod host;
mod join;
mod lane;
mod limits;
mod link;
mod negotiation;
mod parcel;
mod reach;
mod refusal;
mod schema;
pub mod transport;

pub use address::{Address, AddressError};
pub use bridge::Bridge;
pub use codec::{Codec, CodecError, Postcard};
pub use directory::Directory;
pub use error::NetError;
pub use host::Host;
pub use join::{Join, Joined, Joins, Portable, Service};
pub use limits::Limits;
pub use link::{Inbox, Net, Outbox};
pub use parcel::Parcel;
pub use refusal::Refusal;
