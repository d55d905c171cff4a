//! The state that a host shares with its tasks: the roles that have joined, and the services that
//! wait for sessions.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_channel::mpsc;
use rumpsteak_runtime::private::print;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex as AsyncMutex, Notify, Semaphore, oneshot};

pub(super) use crate::platform::lock;
use crate::platform::task::{AbortHandle, JoinHandle, JoinSet};
use crate::platform::time::Instant;
use crate::transport::{Connection, Streams, Transports};
use crate::wire::{Endpoint, Hello, PackedLane};
use crate::{Address, Limits, NetError, Refusal};

pub(crate) struct Shared {
    pub(crate) transports: Transports,
    pub(crate) limits: Limits,
    pub(super) registry: Mutex<Registry>,
    pub(super) listened: Mutex<Vec<Listened>>,
    /// The better address of a host that was called at this one.
    pub(super) better: Mutex<BTreeMap<Address, Address>>,
    /// The connections to other hosts, by the addresses that were called.
    pub(super) lines: Mutex<BTreeMap<Address, Arc<AsyncMutex<Line>>>>,
    /// Wakes tasks when a role has joined, or a call was answered.
    pub(super) changed: Notify,
    pub(super) gate: Mutex<Gate>,
    pub(super) told: Mutex<Told>,
    /// Permits for connections that have greeted and wait for an answer.
    pub(super) handshakes: Semaphore,
}

#[derive(Clone, Debug)]
pub(crate) struct Listened {
    /// The tasks of the host that listen.
    pub(super) listening: Weak<Mutex<JoinSet<()>>>,
    pub(super) address: Address,
    /// True if sessions run there. Otherwise the host tells callers an address where they do.
    pub(super) has_sessions: bool,
}

/// The connection to an address. Calls wait while one of them makes it.
#[derive(Default)]
pub(super) enum Line {
    #[default]
    Absent,
    /// Each call needs a connection of its own.
    Single,
    Shared(Streams),
    /// The last call failed then, for this reason.
    Failed(Instant, Arc<io::Error>),
}

#[derive(Default)]
pub(super) struct Registry {
    /// The slots of each role that has joined, one for each peer.
    pub(super) roles: BTreeMap<Endpoint, Vec<Slot>>,
    services: BTreeMap<(Arc<str>, Arc<str>), Announced>,
    pub(super) moved: BTreeMap<Endpoint, Moved>,
}

struct Announced {
    to: UnboundedSender<Arc<str>>,
    /// The sessions that were announced, and when a peer last asked for each.
    sessions: BTreeMap<Arc<str>, Instant>,
    next_sweep: Instant,
}

const SWEEP: Duration = Duration::from_secs(1);

/// A role that has moved in the middle of a session.
pub(super) struct Moved {
    pub(super) to: Vec<Address>,
    pub(super) until: Instant,
    /// The peers that may still ask, and until when.
    pub(super) asks: BTreeMap<Arc<str>, Instant>,
    /// The tokens of both ends of each lane. The host tells the address only to an end with both.
    pub(super) tokens: BTreeMap<Arc<str>, [Option<u128>; 2]>,
}

/// The entry of a role for one of its peers.
pub(super) struct Slot {
    pub(super) hello: Arc<Hello>,
    pub(super) arrivals: Arrives,
    pub(super) peer: SlotPeer,
    /// Why the last call of the peer failed, or of a stranger in its name.
    pub(super) failed_call: Option<String>,
    /// True if the peer has left. It may use the name of the session again.
    pub(super) has_left: bool,
}

/// The state of the peer in a slot, with the token of its end if it has come.
pub(super) enum SlotPeer {
    Absent,
    /// The peer has not come, and a call to it is under way.
    Dialled,
    /// The peer is on this host.
    Wired(u128),
    /// The peer was on this host and has moved. The task serves the lane to it.
    Left(u128, Option<LaneTask>),
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

/// A peer of a role that moves to another host.
pub(crate) enum Leaving {
    /// The peer stays on this host. Its greeting.
    Local(Arc<Hello>),
    /// The sender to the lane of the peer, and its task if the peer was here and has moved.
    Lane(Arrives, Option<LaneTask>),
}

/// The slot of a role for a peer.
pub(super) fn slot_of<'a>(slots: &'a mut [Slot], peer: &str) -> Option<&'a mut Slot> {
    slots.iter_mut().find(|slot| *slot.hello.route.peer == *peer)
}

impl Slot {
    /// Tells the role, unless it has given up in the meantime.
    pub(super) fn arrive(&self, arrival: Arrival) {
        let _ = self.arrivals.unbounded_send(Box::new(arrival));
    }
}

impl Registry {
    pub(super) fn slot(&mut self, endpoint: &Endpoint, peer: &str) -> Option<&mut Slot> {
        slot_of(self.roles.get_mut(endpoint)?, peer)
    }

    /// Tells the service that plays a role about a session in which the role is expected: once, as
    /// long as peers ask for it.
    pub(super) fn announce(&mut self, (session, protocol, role): Endpoint, limits: &Limits) {
        let Some(service) = self.services.get_mut(&(protocol, role)) else { return };
        let (now, asks_within) = (Instant::now(), limits.join + limits.handshake);
        if service.next_sweep <= now {
            service.sessions.retain(|_, asked| *asked + asks_within > now);
            service.next_sweep = now + SWEEP;
        }
        if service.sessions.insert(session.clone(), now).is_none() {
            // If the service is gone, the peer gives up in the end.
            let _ = service.to.send(session);
        }
    }
}

/// The first and the longest pause before a peer is called again.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(10);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub(crate) type LaneTask = JoinHandle<Result<(), NetError>>;
pub(crate) type Arrivals = mpsc::UnboundedReceiver<Box<Arrival>>;
pub(crate) type Arrives = mpsc::UnboundedSender<Box<Arrival>>;

/// An event at the slot of a peer.
pub(crate) enum Arrival {
    /// The peer is on this host: the end of the route for the role.
    Local(Box<dyn Any + Send>),
    /// The peer has a connection. The first one has been answered; later ones have not.
    Remote(Box<Connection>, Box<Hello>, Call),
    Failed(NetError),
    /// The role itself moves to another host, with the lane of this peer.
    Leave(oneshot::Sender<Result<PackedLane, NetError>>),
}

/// The result of a call: see [`Answer`](crate::wire::Answer).
pub(crate) enum Greeted {
    Welcome(Box<Connection>, Box<Hello>),
    Moved(Vec<Address>),
    Offers(Vec<Address>),
}

/// The end that made a connection.
pub(crate) enum Call {
    Own,
    Theirs,
    /// The peer, to replace a connection. It waits for an answer.
    Again,
}

/// How long a connection may take to greet, or to close after its answer.
pub(super) const MOMENT: Duration = Duration::from_secs(2);

impl Shared {
    pub(super) fn new(transports: Transports, limits: Limits) -> Self {
        let tell = |error: &NetError| print(format_args!("{error:?}"));
        Self {
            transports,
            registry: Mutex::default(),
            listened: Mutex::default(),
            better: Mutex::default(),
            lines: Mutex::default(),
            changed: Notify::new(),
            gate: Mutex::default(),
            told: Mutex::new(Told { tell: Box::new(tell), kinds: BTreeMap::new() }),
            handshakes: Semaphore::new(limits.connections),
            limits,
        }
    }

    /// The addresses at which sessions run on this host.
    pub(crate) fn listens(&self) -> Vec<Address> {
        let listened = lock(&self.listened);
        let of_sessions = listened.iter().filter(|listened| listened.has_sessions);
        of_sessions.map(|listened| listened.address.clone()).collect()
    }

    /// Begins a service. Returns the names of the sessions in which others expect the role here,
    /// including those that have already begun.
    pub(crate) fn serve(&self, protocol: &str, role: &str) -> UnboundedReceiver<Arc<str>> {
        let (to, announced) = unbounded_channel();
        let service = Announced { to, sessions: BTreeMap::new(), next_sweep: Instant::now() };
        let mut registry = lock(&self.registry);
        registry.services.insert((protocol.into(), role.into()), service);
        let of_protocol = registry.roles.iter_mut().filter(|(at, _)| *at.1 == *protocol);
        let slots = of_protocol.filter_map(|(_, slots)| slot_of(slots, role));
        let waiting = slots.filter(|slot| slot.peer.token().is_none());
        let mut expected: Vec<_> = waiting.map(|slot| slot.hello.route.far()).collect();
        expected.retain(|it| !registry.roles.contains_key(it));
        expected.into_iter().for_each(|endpoint| registry.announce(endpoint, &self.limits));
        drop(registry);
        self.changed.notify_waiters();
        announced
    }

    /// Registers a role in a session, as long as the guard is there. `wire` makes the two ends of a
    /// route between this role and a peer that is already on this host, from their greetings: one
    /// for the role, one for the peer; or none if one of them will call. A role that comes from
    /// another host in the middle of a session already has the peers that it knows.
    ///
    /// Fails if the role has already joined.
    pub(crate) fn register(
        self: &Arc<Self>,
        endpoint: Endpoint,
        on_demand: &'static [&'static str],
        hellos: &[Arc<Hello>],
        wire: &dyn Fn(&Hello, &Hello) -> Option<[Arrival; 2]>,
    ) -> Result<(Arc<Guard>, Vec<Arrivals>), NetError> {
        let mut registry = lock(&self.registry);
        if registry.roles.contains_key(&endpoint) {
            let (session, _, role) = endpoint;
            return Err(NetError::Joined { role: role.to_string(), session: session.to_string() });
        }
        let (mut slots, mut receivers) = (Vec::with_capacity(hellos.len()), Vec::new());
        let fits = |hello: &Hello| (hello.contract.fingerprint, hello.contract.members);
        for hello in hellos.iter().cloned() {
            let (arrivals, receiver) = mpsc::unbounded();
            let far = hello.route.far();
            if !registry.roles.contains_key(&far) {
                registry.announce(far.clone(), &self.limits);
            }
            let known = hello.lane.known;
            let mut peer = known.map_or(SlotPeer::Absent, SlotPeer::Remote);
            let slot = registry.slot(&far, &hello.route.role);
            if let Some(slot) = slot.filter(|it| it.peer.token().is_none() && known.is_none())
                && let Some([own, theirs]) = if fits(&hello) == fits(&slot.hello) {
                    wire(&hello, &slot.hello)
                } else {
                    Some(differ(&hello, &slot.hello))
                }
            {
                slot.peer = SlotPeer::Wired(hello.lane.own);
                peer = SlotPeer::Wired(slot.hello.lane.own);
                slot.arrive(theirs);
                let _ = arrivals.unbounded_send(Box::new(own));
            }
            slots.push(Slot { hello, arrivals, peer, failed_call: None, has_left: false });
            receivers.push(receiver);
        }
        registry.roles.insert(endpoint.clone(), slots);
        drop(registry);
        self.changed.notify_waiters();
        let (shared, is_broken) = (Arc::clone(self), Semaphore::new(0));
        Ok((Arc::new(Guard { shared, endpoint, on_demand, is_broken }), receivers))
    }

    /// Removes a role that moves to another host. Each of its peers on this host gets a lane, which
    /// `stay` begins from the greetings of the role and of the peer, and the receiver of arrivals.
    pub(crate) fn leave(
        &self,
        endpoint: &Endpoint,
        to: Vec<Address>,
        mut stay: impl FnMut(&Hello, &Hello, Arrivals) -> Option<LaneTask>,
    ) -> BTreeMap<Arc<str>, Leaving> {
        let mut registry = lock(&self.registry);
        let now = Instant::now();
        registry.moved.retain(|_, moved| moved.until > now);
        let slots = registry.roles.remove(endpoint).unwrap_or_default();
        let tokens = |slot: &Slot| [Some(slot.hello.lane.own), slot.peer.token()];
        let peer = |slot: &Slot| slot.hello.route.peer.clone();
        let tokens = slots.iter().map(|slot| (peer(slot), tokens(slot))).collect();
        let moved = Moved { to, until: now + self.limits.resume, asks: BTreeMap::new(), tokens };
        registry.moved.insert(endpoint.clone(), moved);
        let mut leave = |Slot { hello, arrivals, peer, .. }: Slot| {
            if let SlotPeer::Wired(_) = peer
                && let Some(stays) = registry.slot(&hello.route.far(), &hello.route.role)
            {
                let (arrivals, receiver) = mpsc::unbounded();
                stays.arrivals = arrivals;
                if let Some(task) = stay(&hello, &stays.hello, receiver) {
                    stays.peer = SlotPeer::Left(hello.lane.own, Some(task));
                }
                return Leaving::Local(Arc::clone(&stays.hello));
            }
            let lane = match peer {
                SlotPeer::Left(_, lane) => lane,
                _ => None,
            };
            Leaving::Lane(arrivals, lane)
        };
        slots.into_iter().map(|slot| (peer(&slot), leave(slot))).collect()
    }

    /// Notes that a peer of a role that has moved will call it here.
    pub(crate) fn expects_call(&self, endpoint: &Endpoint, peer: &str) {
        if let Some(moved) = lock(&self.registry).moved.get_mut(endpoint) {
            moved.asks.entry(peer.into()).or_insert(moved.until);
        }
    }

    /// Takes the lane of a role to a peer that was on this host and has moved.
    pub(crate) fn take_lane(&self, own: &Hello) -> Option<LaneTask> {
        self.with_slot(own, |slot| match &mut slot.peer {
            SlotPeer::Left(_, lane) => lane.take(),
            _ => None,
        })?
    }

    /// Changes the slot of a role for a peer. `None` without such a slot.
    pub(super) fn with_slot<T>(&self, own: &Hello, edit: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        lock(&self.registry).slot(&own.route.near(), &own.route.peer).map(edit)
    }

    /// Notes that the peer has left, so that it may use the name of the session again.
    pub(crate) fn peer_left(&self, own: &Hello) {
        self.with_slot(own, |slot| slot.has_left = true);
        self.changed.notify_waiters();
    }

    /// The greeting of the role that a peer calls, if the role is here.
    pub(crate) fn hello_to(&self, hello: &Hello) -> Option<Arc<Hello>> {
        let mut registry = lock(&self.registry);
        registry.slot(&hello.route.far(), &hello.route.role).map(|slot| slot.hello.clone())
    }

    /// Tells the program about an error that ends no session, at most every [`TOLD`].
    pub(super) fn tell(&self, error: NetError) {
        let (mut told, now) = (lock(&self.told), Instant::now());
        told.kinds.retain(|_, at| *at + TOLD > now);
        if told.kinds.insert(error.to_string(), now).is_none() {
            (told.tell)(&error);
        }
    }
}

/// The result for two roles of one process that were built for different protocols.
fn differ(hello: &Hello, other: &Hello) -> [Arrival; 2] {
    let members = [hello.contract.members, other.contract.members];
    [&hello.route.peer, &hello.route.role].map(|peer| {
        let refusal = match members[0] == members[1] {
            true => Refusal::Protocol("both are in one process".to_owned()),
            false => Refusal::Members(members),
        };
        Arrival::Failed(NetError::Refused { peer: peer.to_string(), refusal })
    })
}

/// The state that the lanes of a role share. Removes the role from its host when the last is gone.
pub(crate) struct Guard {
    pub(crate) shared: Arc<Shared>,
    pub(crate) endpoint: Endpoint,
    /// The roles of the protocol that play on demand.
    pub(crate) on_demand: &'static [&'static str],
    /// Closed once a peer is missing, so that the session cannot end in order.
    is_broken: Semaphore,
}

impl Guard {
    /// Notes that a peer was lost, or has given up.
    pub(crate) fn lost(&self, peer: &str) {
        if !self.on_demand.contains(&peer) {
            self.is_broken.close();
        }
    }

    /// Waits until a peer is missing that does not play on demand.
    pub(crate) async fn broken(&self) {
        // It has no permit, so this ends when it is closed.
        let _ = self.is_broken.acquire().await;
    }
}

impl Drop for Guard {
    /// If all peers of the role had come, no peer expects it in this session any more, and its
    /// service forgets the name.
    fn drop(&mut self) {
        let mut registry = lock(&self.shared.registry);
        let slots = registry.roles.remove(&self.endpoint);
        let (session, protocol, role) = &self.endpoint;
        if slots.is_some_and(|slots| slots.iter().all(|slot| slot.peer.token().is_some()))
            && let Some(service) = registry.services.get_mut(&(protocol.clone(), role.clone()))
        {
            service.sessions.remove(session);
        }
        // A peer may already wait for the role in the next session of this name.
        let roles = registry.roles.range_mut((session.clone(), protocol.clone(), "".into())..);
        let mut roles = roles.take_while(|(at, _)| (&at.0, &at.1) == (session, protocol));
        let waits = |slot: &mut Slot| slot.peer.token().is_none();
        if roles.any(|(_, slots)| slot_of(slots, role).is_some_and(waits)) {
            registry.announce(self.endpoint.clone(), &self.shared.limits);
        }
        drop(registry);
        self.shared.changed.notify_waiters();
    }
}

/// The receiver of a host's errors, and when it was told which kind of error.
pub(super) struct Told {
    pub(super) tell: Box<dyn FnMut(&NetError) + Send>,
    kinds: BTreeMap<String, Instant>,
}

/// How long a host is silent about an error that it has told.
const TOLD: Duration = Duration::from_secs(10);

/// The connections that have not greeted yet, oldest first: the address of the caller, if it has
/// one, and the task that receives the greeting.
///
/// A stranger can open connections and stay silent. If there are too many, from one address or in
/// total, the oldest is dropped for the new one. A peer that resumes its session greets at once, so
/// silent connections cannot keep it out.
#[derive(Default)]
pub(super) struct Gate(Vec<(Option<IpAddr>, AbortHandle)>);

impl Gate {
    /// Adds a connection. Drops an older one if there are too many.
    pub(super) fn admit(&mut self, caller: Option<IpAddr>, task: AbortHandle, limits: &Limits) {
        let caller = caller.map(network);
        self.0.retain(|(_, task)| !task.is_finished());
        let is_same = |other: Option<IpAddr>| caller.is_some() && other == caller;
        let of_caller = self.0.iter().filter(|(other, _)| is_same(*other)).count();
        if of_caller >= limits.connections_of_address {
            self.drop_oldest(is_same);
        } else if self.0.len() >= limits.connections {
            self.drop_oldest(|_| true);
        }
        self.0.push((caller, task));
    }

    /// Drops the oldest connection of these callers.
    pub(super) fn drop_oldest(&mut self, is_one: impl Fn(Option<IpAddr>) -> bool) {
        if let Some(oldest) = self.0.iter().position(|(caller, _)| is_one(*caller)) {
            self.0.remove(oldest).1.abort();
        }
    }
}

/// The network of a caller: an IPv6 caller has a whole `/64`.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}
