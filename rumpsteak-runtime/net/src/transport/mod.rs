//! Transports: reliable, ordered duplexes of frames.
//!
//! All that a session needs of a transport is [`Transport`]: to connect to a place, and to listen
//! at one. A connection is a stream and a sink of frames, byte strings that arrive whole, once, and
//! in order, or not at all because the connection has ended. Everything else (who talks to whom,
//! credit, what happens when a connection breaks) is the same over every transport.
//!
//! | scheme | feature | |
//! |---|---|---|
//! | `memory://name` | | within the process, as bytes: for tests |
//! | `tcp://host:port` | `tcp`, on by default | |
//! | `unix:///path` | `unix` | sockets of Unix |
//! | `tls://host:port` | `tls` | TLS in which both ends have certificates, which name their roles |
//! | `quic://host:port` | `quic` | QUIC, with such certificates |
//! | `nats://server:4222/name` | `nats` | a broker, by which roles find each other |
//! | `ws://host:port/path` | `websocket` | WebSocket, which passes through proxies of HTTP |
//! | `wss://host:port/path` | `tls`, `websocket` | WebSocket over TLS |

use std::io;

mod connection;
mod listener;
mod memory;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "quic")]
mod quic;
mod registry;
#[cfg(any(feature = "tcp", feature = "tls", feature = "websocket"))]
mod tcp;
#[cfg(feature = "tls")]
mod tls;
#[cfg(all(unix, feature = "unix"))]
mod unix;
#[cfg(feature = "websocket")]
mod websocket;

pub(crate) use self::connection::{BUFFER, GREETING, random};
pub use self::connection::{Connection, Duplex};
pub use self::listener::{IoFuture, Listener, Listens, Opening, Transport};
pub use self::memory::Memory;
#[cfg(feature = "nats")]
pub use self::nats::Nats;
#[cfg(feature = "quic")]
pub use self::quic::Quic;
pub use self::registry::Transports;
#[cfg(feature = "tcp")]
pub use self::tcp::Tcp;
#[cfg(feature = "tls")]
pub use self::tls::{Identity, Tls};
#[cfg(all(unix, feature = "unix"))]
pub use self::unix::Unix;
#[cfg(feature = "websocket")]
pub use self::websocket::WebSocket;

/// True if no further try can succeed after this error.
pub(crate) fn is_final(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::InvalidInput => true,
        io::ErrorKind::PermissionDenied => error.raw_os_error().is_none(),
        #[cfg(feature = "quic")]
        _ if quic::is_denied(error) => true,
        #[cfg(feature = "tls")]
        _ => tls::is_denied(error),
        #[cfg(not(feature = "tls"))]
        _ => false,
    }
}
