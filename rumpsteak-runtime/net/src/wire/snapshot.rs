//! Snapshots of lanes that move to another host.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Amount, Hello};
use crate::Address;

/// The progress of a lane, which moves with its role.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct LaneState {
    /// The number of the first message that the peer may not have.
    pub(crate) first: u64,
    /// The number of the next message, or end, that is taken from the role.
    pub(crate) next: u64,
    /// The number of messages and ends that have come from the peer.
    pub(crate) received: u64,
    /// The peer was granted the messages below this number.
    pub(crate) granted: u64,
    /// The bytes of the messages before `next`, and of those that have come from the peer.
    pub(crate) next_bytes: u64,
    pub(crate) received_bytes: u64,
    /// The role of the peer has taken so much.
    pub(crate) taken: Amount,
    /// The peer may exceed the messages that always have room, before it has sent so many bytes.
    pub(crate) granted_bytes: u64,
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
    /// All that was taken from the role, and its size.
    pub(crate) fn sent(&self) -> Amount {
        Amount { messages: self.next, bytes: self.next_bytes }
    }

    /// Counts messages that were taken from the role.
    pub(crate) fn send(&mut self, sent: Amount) {
        self.next += sent.messages;
        self.next_bytes += sent.bytes;
    }

    /// Returns true if the peer has not acknowledged everything.
    pub(crate) fn is_waiting(&self) -> bool {
        self.first < self.next
    }

    /// Returns true if the role has left, and the peer has acknowledged everything.
    pub(crate) fn is_told(&self) -> bool {
        self.has_ended && !self.is_waiting()
    }

    pub(crate) fn has_peer_left(&self) -> bool {
        self.left_after.is_some()
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct LaneSnapshot {
    pub(crate) state: LaneState,
    pub(crate) unacknowledged: Vec<Vec<u8>>,
    /// The messages that have come and that the role has not received, oldest first.
    pub(crate) unread: Vec<Vec<u8>>,
    /// The number of messages after `received` that the role of a record has taken. The peer sends
    /// them again.
    pub(crate) skipped: u64,
}

/// The part of a lane that is in the record of its role, if the role is stored.
#[derive(Default)]
pub(crate) struct Recorded {
    /// The ends of the frames that have come and are not in the record: the number of messages that
    /// the role has taken then, and all that has come then.
    pub(crate) ends: VecDeque<(u64, Amount)>,
    /// The messages that have come according to the record. The peer may drop them.
    pub(crate) acknowledged: Amount,
    /// The same for the snapshot that is being stored, and the end of what it has sent.
    pub(crate) next: (Amount, u64),
    /// The frames before this number are in the record.
    pub(crate) released: u64,
    /// The messages that were written to this connection or acknowledged, and the number of the
    /// next message that comes over it.
    pub(crate) written: Amount,
    pub(crate) coming: u64,
    /// The number of messages that the role has taken before its process died, and that come again.
    pub(crate) skipped: u64,
    /// True if the session is over, so that the role takes no more.
    pub(crate) is_over: bool,
}

/// A lane with its two ends.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    pub(crate) fn departed(own: Hello, left_after: usize, unread: usize) -> Self {
        let received = unread as u64 + 1;
        let (granted, left_after) = (received, Some(left_after as u64));
        let state =
            LaneState { received, granted, has_ended: true, left_after, ..LaneState::default() };
        let token = own.lane.own;
        let own = own.knowing(token);
        let snapshot = LaneSnapshot { state, ..LaneSnapshot::default() };
        Self { theirs: Some(own.clone()), own, addresses: Vec::new(), snapshot }
    }

    /// A lane to a peer on the same host. Nothing was sent over it yet.
    pub(crate) fn fresh(own: Hello, theirs: Hello) -> Self {
        let own = own.knowing(theirs.lane.own);
        let snapshot = LaneSnapshot::default();
        Self { own, theirs: Some(theirs), addresses: Vec::new(), snapshot }
    }
}
