//! The arrival of a peer.

use std::any::Any;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::transport::Connection;
use crate::wire::{Hello, PackedLane};
use crate::{Address, NetError};

/// The first and the longest pause before a peer is called again.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(10);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The task of a lane.
pub(crate) type LaneTask = JoinHandle<Result<(), NetError>>;

/// An event at the slot of a peer.
pub(crate) enum Arrival {
    /// The peer is on this host: the end of the route for the role.
    Local(Box<dyn Any + Send>),
    /// The peer has a connection. The first one has been answered; later ones have not.
    Remote(Connection, Box<Hello>, Call),
    /// The peer does not come.
    Failed(NetError),
    /// The role itself moves to another host, with the lane of this peer.
    Leave(oneshot::Sender<Result<PackedLane, NetError>>),
}

/// The result of a call.
pub(crate) enum Greeted {
    Welcome(Connection, Box<Hello>),
    /// The peer has moved to one of these addresses.
    Moved(Vec<Address>),
    /// The peer is to be called at one of these addresses.
    Offers(Vec<Address>),
}

/// The end that made a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Own,
    Theirs,
    /// The peer, to replace a connection. It waits for an answer.
    Again,
}
