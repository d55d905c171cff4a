//! Transports: reliable, ordered duplexes of frames.
//!
//! A [`Transport`] connects to a place, and listens at a place. A connection is a stream and a sink
//! of frames: byte strings that arrive whole, once and in order, until the connection ends.
//! Sessions, credit and reconnecting are the same over every transport.
//!
//! The [guide](crate::guide::transports) lists the schemes of addresses and their features.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::{Address, NetError};

#[cfg(all(feature = "websocket", target_family = "wasm"))]
mod browser;
#[cfg_attr(
    not(any(feature = "tcp", feature = "tls", feature = "unix", feature = "websocket")),
    allow(dead_code, reason = "no transport has streams")
)]
mod connection;
mod framing;
mod memory;
#[cfg(any(feature = "tcp", feature = "tls", feature = "unix", feature = "websocket"))]
mod multiplex;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "quic")]
mod quic;
#[cfg(any(feature = "tcp", feature = "tls", feature = "websocket"))]
mod tcp;
#[cfg(feature = "tls")]
mod tls;
#[cfg(all(unix, feature = "unix"))]
mod unix;
#[cfg(all(feature = "websocket", not(target_family = "wasm")))]
mod websocket;

#[cfg(all(feature = "websocket", target_family = "wasm"))]
pub use self::browser::WebSocket;
pub use self::connection::*;
pub use self::memory::Memory;
#[cfg(feature = "nats")]
pub use self::nats::*;
#[cfg(feature = "quic")]
pub use self::quic::Quic;
#[cfg(not(target_family = "wasm"))]
#[cfg(any(feature = "tcp", feature = "tls", feature = "websocket"))]
pub use self::tcp::Tcp;
#[cfg(feature = "tls")]
pub use self::tls::{Identity, Tls, rustls_pki_types};
#[cfg(all(unix, feature = "unix"))]
pub use self::unix::Unix;
#[cfg(all(feature = "websocket", not(target_family = "wasm")))]
pub use self::websocket::WebSocket;

/// Transports, by the schemes of their addresses.
#[derive(Clone)]
pub struct Transports {
    by_scheme: BTreeMap<&'static str, Arc<dyn Transport>>,
}

impl Default for Transports {
    /// The transports that need no settings.
    fn default() -> Self {
        let transports = Self { by_scheme: BTreeMap::new() }.with("memory", Memory);
        #[cfg(feature = "tcp")]
        let transports = transports.with("tcp", Tcp);
        #[cfg(all(unix, feature = "unix"))]
        let transports = transports.with("unix", Unix);
        #[cfg(feature = "nats")]
        let transports = transports.with("nats", Nats::default());
        #[cfg(feature = "websocket")]
        let transports = transports.with("ws", WebSocket::default());
        #[cfg(all(feature = "websocket", target_family = "wasm"))]
        let transports = transports.with("wss", WebSocket::secure());
        transports
    }
}

impl Transports {
    /// Adds a transport. Replaces an earlier transport of the scheme.
    #[must_use]
    pub fn with(mut self, scheme: &'static str, transport: impl Transport) -> Self {
        self.by_scheme.insert(scheme, Arc::new(transport));
        self
    }

    pub(crate) fn schemes(&self) -> Vec<&'static str> {
        self.by_scheme.keys().copied().collect()
    }

    pub(crate) fn of(&self, address: &Address) -> Result<&dyn Transport, NetError> {
        let found = self.by_scheme.get(address.scheme());
        let unknown = || NetError::Scheme { address: address.clone(), known: self.schemes() };
        found.map(|transport| &**transport).ok_or_else(unknown)
    }
}

impl_debug!([] Transports, "schemes": |it| it.schemes());

/// Returns true if no further try can succeed after this error.
pub(crate) fn is_final(error: &io::Error) -> bool {
    if let Some(error) = error.get_ref().and_then(|it| it.downcast_ref::<Arc<io::Error>>()) {
        return is_final(error);
    }
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
