//! The transports that a host knows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::listener::Transport;
use super::memory::Memory;
#[cfg(feature = "nats")]
use super::nats::Nats;
#[cfg(feature = "tcp")]
use super::tcp::Tcp;
#[cfg(all(unix, feature = "unix"))]
use super::unix::Unix;
#[cfg(feature = "websocket")]
use super::websocket::WebSocket;
use crate::address::Address;
use crate::error::NetError;

/// Transports, by the schemes of their addresses.
#[derive(Clone)]
pub struct Transports {
    by_scheme: BTreeMap<&'static str, Arc<dyn Transport>>,
}

impl Default for Transports {
    /// Those that need no settings.
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
        transports
    }
}

impl Transports {
    /// Adds a transport, or replaces the one of this scheme.
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

impl fmt::Debug for Transports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_scheme.keys()).finish()
    }
}
