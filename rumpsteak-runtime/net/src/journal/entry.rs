//! An entry of the log of a role.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A step of a role, and how far it has come then. The last entry of a log is the record from which
/// the role comes back; the messages of all entries are what its peers read.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Entry {
    pub(crate) session: String,
    pub(crate) role: String,
    /// The instance that plays the role.
    pub(crate) instance: String,
    /// A random number of the process that plays the role.
    pub(crate) owner: u128,
    /// The fingerprint of the protocol and the messages, which all roles of a session share.
    pub(crate) program: u64,
    /// The number of this entry: 1 for the first one.
    pub(crate) step: u64,
    pub(crate) phase: Phase,
    pub(crate) value: Vec<u8>,
    /// By peer.
    pub(crate) channels: BTreeMap<String, Channel>,
}

/// How far a role has come with a peer.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Channel {
    /// The number of messages that the role has taken.
    pub(crate) received: u64,
    /// The number of messages that it has sent in earlier steps.
    pub(crate) sent: u64,
    /// The messages that it sends in this step.
    pub(crate) messages: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Phase {
    /// The instance will play the role.
    Claimed,
    /// The session is in the state of this fingerprint.
    At(u64),
    /// The session is over for this role.
    Over,
    /// The role needs nothing more.
    Left,
    /// The role has given the session up.
    GivenUp,
}

impl Entry {
    /// Becomes the next entry of the role, without messages.
    pub(crate) fn advance(&mut self) {
        self.step += 1;
        for channel in self.channels.values_mut() {
            channel.sent += channel.messages.len() as u64;
            channel.messages.clear();
        }
    }

    /// Returns true if the role does nothing more in the session.
    pub(crate) fn has_left(&self) -> bool {
        matches!(self.phase, Phase::Left | Phase::GivenUp)
    }
}
