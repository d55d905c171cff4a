//! Snapshots of lanes that move to another host.

use serde::{Deserialize, Serialize};

use super::{Amount, Hello};
use crate::Address;

/// The progress of a lane, which moves with its role.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct LaneState {
    /// The number of the first message that the peer may not have.
    pub(crate) first: u64,
    /// The messages and the end that were taken from the role.
    pub(crate) sent: Amount,
    /// The messages and the end that have come from the peer.
    pub(crate) received: Amount,
    /// The peer was granted so many messages. It may exceed those that always have room, before it
    /// has sent so many bytes.
    pub(crate) granted: Amount,
    /// The role of the peer has taken so much.
    pub(crate) taken: Amount,
    /// True if the role has left, and the end is among the frames.
    pub(crate) has_ended: bool,
    /// The number of sessions that the peer had completed when it left; 0 if it left in the middle
    /// of a session. `None` as long as it is there.
    pub(crate) left_after: Option<u64>,
    /// The number of sessions that the role has completed at other hosts.
    pub(crate) completed: u64,
    pub(crate) peer_completed: u64,
    /// The number of the last frames that wait for the peer to begin the session.
    pub(crate) ahead: usize,
}

impl LaneState {
    /// Returns true if the peer has not acknowledged everything.
    pub(crate) fn is_waiting(&self) -> bool {
        self.first < self.sent.messages
    }

    /// Returns true if the role has left, and the peer has acknowledged everything.
    pub(crate) fn is_told(&self) -> bool {
        self.has_ended && !self.is_waiting()
    }

    pub(crate) fn has_peer_left(&self) -> bool {
        self.left_after.is_some()
    }
}

#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct LaneSnapshot {
    pub(crate) state: LaneState,
    pub(crate) unacknowledged: Vec<Vec<u8>>,
    /// The messages that have come and that the role has not received, oldest first.
    pub(crate) unread: Vec<Vec<u8>>,
}

/// A lane with its two ends.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct PackedLane {
    pub(crate) own: Hello,
    /// `None` for a peer that plays on demand and has not come yet.
    pub(crate) theirs: Option<Hello>,
    /// The addresses of the peer; empty if the peer calls.
    pub(crate) addresses: Vec<Address>,
    pub(crate) snapshot: LaneSnapshot,
}

impl PackedLane {
    /// The lane to a peer that has left after so many sessions, with so many messages unread.
    pub(crate) fn departed(own: &Hello, left_after: usize, unread: usize) -> Self {
        let received = Amount { messages: unread as u64 + 1, bytes: 0 };
        let (granted, left_after) = (received, Some(left_after as u64));
        let state =
            LaneState { received, granted, has_ended: true, left_after, ..LaneState::default() };
        let token = own.lane.own;
        let own = own.clone().knowing(token);
        let snapshot = LaneSnapshot { state, ..LaneSnapshot::default() };
        Self { theirs: Some(own.clone()), own, addresses: Vec::new(), snapshot }
    }

    /// A lane to a peer on the same host. Nothing was sent over it yet.
    pub(crate) fn fresh(own: &Hello, theirs: &Hello) -> Self {
        let (own, theirs) = (own.clone().knowing(theirs.lane.own), Some(theirs.clone()));
        Self { own, theirs, addresses: Vec::new(), snapshot: LaneSnapshot::default() }
    }
}
