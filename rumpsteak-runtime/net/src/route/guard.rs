//! The state that the lanes of a role share.

use std::sync::Arc;

use tokio::sync::watch;

use crate::host::Shared;
use crate::wire::Endpoint;

/// Removes a role from its host when its last connection is gone.
pub(crate) struct Guard {
    pub(crate) shared: Arc<Shared>,
    pub(crate) endpoint: Endpoint,
    /// The roles of the protocol that play on demand.
    on_demand: &'static [&'static str],
    /// True if a peer is missing, so that the session cannot end in order.
    is_broken: watch::Sender<bool>,
}

impl Guard {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        endpoint: Endpoint,
        on_demand: &'static [&'static str],
    ) -> Arc<Self> {
        let (shared, is_broken) = (Arc::clone(shared), watch::Sender::new(false));
        Arc::new(Self { shared, endpoint, on_demand, is_broken })
    }

    /// Notes that a peer was lost, or has given up.
    pub(crate) fn misses(&self, peer: &str) {
        if !self.on_demand.contains(&peer) {
            self.is_broken.send_replace(true);
        }
    }

    /// Waits until a peer is missing that does not play on demand.
    pub(crate) async fn broken(&self) {
        // The sender is here.
        let _ = self.is_broken.subscribe().wait_for(|is_broken| *is_broken).await;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.shared.free(&self.endpoint);
    }
}
