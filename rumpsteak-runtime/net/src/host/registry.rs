//! The roles that have joined at a host, and the services that wait for sessions.

use std::any::Any;
use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::transport::Connection;
use crate::wire::{Endpoint, Hello, PackedLane};
use crate::{Address, Limits, NetError};

#[derive(Default)]
pub(super) struct Registry {
    /// The slots of each role that has joined, by peer.
    pub(super) roles: BTreeMap<Endpoint, BTreeMap<String, Slot>>,
    pub(super) services: BTreeMap<(String, String), Announced>,
    /// The roles that have moved to another host in the middle of a session.
    pub(super) moved: BTreeMap<Endpoint, Moved>,
}

pub(super) struct Announced {
    to: UnboundedSender<String>,
    /// The sessions that were announced, and when a peer last asked for each.
    pub(super) sessions: BTreeMap<String, Instant>,
    next_sweep: Instant,
}

const SWEEP: Duration = Duration::from_secs(1);

/// A role that has moved in the middle of a session.
pub(super) struct Moved {
    pub(super) to: Vec<Address>,
    pub(super) until: Instant,
    /// The peers that may still ask, and until when.
    pub(super) asks: BTreeMap<String, Instant>,
    /// The tokens of both ends of each lane, without which a stranger is told nothing.
    pub(super) tokens: BTreeMap<String, [Option<u128>; 2]>,
}

/// The place of a role for one peer.
pub(super) struct Slot {
    pub(super) hello: Hello,
    pub(super) arrivals: UnboundedSender<Arrival>,
    pub(super) peer: SlotPeer,
    /// How the peer, or a stranger in its name, has last called in vain.
    pub(super) in_vain: Option<String>,
}

/// The peer in a slot. A peer that has come has the token of its end.
pub(super) enum SlotPeer {
    Absent,
    /// The peer has not come, and a call to it is under way.
    Dialled,
    /// The peer is on this host.
    Wired(u128),
    /// The peer was on this host and has moved. The task serves the lane to it.
    Left(u128, Option<LaneTask>),
    /// The peer has come over a connection.
    Remote(u128),
}

impl SlotPeer {
    pub(super) fn token(&self) -> Option<u128> {
        match self {
            Self::Absent | Self::Dialled => None,
            Self::Wired(token) | Self::Left(token, _) | Self::Remote(token) => Some(*token),
        }
    }
}

impl Slot {
    /// Tells the role. A role that has given up in the meantime hears nothing.
    pub(super) fn arrive(&self, arrival: Arrival) {
        let _ = self.arrivals.send(arrival);
    }
}

/// A peer of a role that moves to another host.
pub(crate) enum Leaving {
    /// The peer stays on this host. Its greeting.
    Local(Box<Hello>),
    /// The sender to the lane of the peer, and its task if the peer was on this host and has moved.
    Lane(UnboundedSender<Arrival>, Option<LaneTask>),
}

impl Registry {
    pub(super) fn endpoints(&self) -> Vec<&Endpoint> {
        self.roles.keys().collect()
    }

    pub(super) fn slot(&mut self, endpoint: &Endpoint, peer: &str) -> Option<&mut Slot> {
        self.roles.get_mut(endpoint)?.get_mut(peer)
    }

    /// Until when a peer may ask for a role that has moved.
    pub(super) fn asks_until(&self) -> Option<Instant> {
        self.moved.values().flat_map(|moved| moved.asks.values()).max().copied()
    }

    /// Tells the service that plays a role about a session in which the role is expected: once, as
    /// long as peers ask for it.
    pub(super) fn announce(&mut self, (protocol, session, role): Endpoint, limits: &Limits) {
        let Some(service) = self.services.get_mut(&(protocol, role)) else { return };
        let (now, asks_within) = (Instant::now(), limits.join + limits.handshake);
        if service.next_sweep <= now {
            service.sessions.retain(|_, asked| *asked + asks_within > now);
            service.next_sweep = now + SWEEP;
        }
        if service.sessions.insert(session.clone(), now).is_none() {
            // A service that is gone announces nothing, and the peer gives up in the end.
            let _ = service.to.send(session);
        }
    }

    /// Begins a service, and announces the sessions in which other roles wait for it already.
    pub(super) fn serve(
        &mut self,
        protocol: &str,
        role: &str,
        limits: &Limits,
    ) -> UnboundedReceiver<String> {
        let (to, announced) = mpsc::unbounded_channel();
        let service = Announced { to, sessions: BTreeMap::new(), next_sweep: Instant::now() };
        self.services.insert((protocol.to_owned(), role.to_owned()), service);
        let of_protocol = self.roles.iter().filter(|(endpoint, _)| endpoint.0 == protocol);
        let slots = of_protocol.filter_map(|(_, slots)| slots.get(role));
        let waiting = slots.filter(|slot| slot.peer.token().is_none());
        let expected = waiting.map(|slot| slot.hello.route.far());
        let expected: Vec<_> = expected.filter(|it| !self.roles.contains_key(it)).collect();
        expected.into_iter().for_each(|endpoint| self.announce(endpoint, limits));
        announced
    }
}

/// The first and the longest pause before a peer is called again.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(10);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub(crate) type LaneTask = JoinHandle<Result<(), NetError>>;

/// An event at the slot of a peer.
pub(crate) enum Arrival {
    /// The peer is on this host: the end of the route for the role.
    Local(Box<dyn Any + Send>),
    /// The peer has a connection. The first one has been answered; later ones have not.
    Remote(Connection, Box<Hello>, Call),
    Failed(NetError),
    /// The role itself moves to another host, with the lane of this peer.
    Leave(oneshot::Sender<Result<PackedLane, NetError>>),
}

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
