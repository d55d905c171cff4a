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
//! * A connection that breaks is replaced within [`Limits::resume`]. No message is lost, doubled or
//!   out of order.
//! * A peer that is lost for good, or breaks the rules, ends the session with a [`NetError`] that
//!   names it. Other sessions of the host go on.
//! * Nothing that a peer sends makes this end panic or wait for ever.
//!
//! Transports with certificates check who is at the other end. The [`guide`] has more.
//!
//! Everything here panics outside of a tokio runtime with time. Dropping a future is safe at any
//! time, unless the documentation of a function says otherwise.

mod address;
mod directory;
mod error;
#[cfg(not(doctest))]
pub mod guide;
mod host;
mod limits;
mod route;
mod session;
pub mod transport;
mod wire;

pub use address::{Address, AddressError};
pub use directory::Directory;
pub use error::{CodecError, NetError, Refusal};
pub use host::Host;
pub use limits::Limits;
pub use route::{Bridge, Inbox, Net, Outbox};
pub use session::{Join, Joined, Joins, Parcel, Service};
pub use wire::{Codec, Portable, Postcard};
