//! What the lanes of a role have in common.

use std::sync::Arc;

use tokio::sync::watch;

use crate::host::{Place, Shared};

/// Frees the places of a role when its last connection is gone.
pub(crate) struct Guard {
    pub(crate) shared: Arc<Shared>,
    pub(crate) place: Place,
    /// The roles of the protocol that play on demand.
    on_demand: &'static [&'static str],
    /// Whether a peer is missing, so that the session cannot end as it should.
    is_broken: watch::Sender<bool>,
}

impl Guard {
    /// For a role that has taken its place.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        place: Place,
        on_demand: &'static [&'static str],
    ) -> Arc<Self> {
        let (shared, is_broken) = (Arc::clone(shared), watch::Sender::new(false));
        Arc::new(Self { shared, place, on_demand, is_broken })
    }

    /// A peer was lost, or has given up.
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
        self.shared.free(&self.place);
    }
}
