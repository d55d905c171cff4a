//! The state that a host shares with its tasks.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use super::{Arrival, Gate, LaneTask, Leaving, Moved, Registry, Slot, SlotPeer};
use crate::transport::Transports;
use crate::wire::{Endpoint, Hello};
use crate::{Address, Limits, NetError, Refusal};

/// The state that a host and its tasks share.
pub(crate) struct Shared {
    pub(crate) transports: Transports,
    pub(crate) limits: Limits,
    pub(super) registry: Mutex<Registry>,
    pub(super) listened: Mutex<Vec<Listened>>,
    /// The better address of a host that has this one.
    pub(super) better: Mutex<BTreeMap<Address, Address>>,
    /// Wakes tasks when a role has joined, or a call has had its answer.
    pub(super) changed: Notify,
    pub(super) gate: Mutex<Gate>,
    /// Permits for connections that have greeted and wait for an answer.
    pub(super) handshakes: Semaphore,
}

#[derive(Clone, Debug)]
pub(crate) struct Listened {
    pub(super) address: Address,
    /// True if sessions run there. Otherwise callers are told an address where they do.
    pub(super) has_sessions: bool,
}

/// How long a connection may take to greet, or to close after its answer.
pub(super) const MOMENT: Duration = Duration::from_secs(2);

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds the lock leaves things half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(transports: Transports, limits: Limits) -> Self {
        Self {
            transports,
            registry: Mutex::default(),
            listened: Mutex::default(),
            better: Mutex::default(),
            changed: Notify::new(),
            gate: Mutex::default(),
            handshakes: Semaphore::new(limits.connections),
            limits,
        }
    }

    pub(super) fn registry(&self) -> MutexGuard<'_, Registry> {
        lock(&self.registry)
    }

    /// The addresses at which sessions run on this host.
    pub(crate) fn listens(&self) -> Vec<Address> {
        let listened = lock(&self.listened);
        let of_sessions = listened.iter().filter(|listened| listened.has_sessions);
        of_sessions.map(|listened| listened.address.clone()).collect()
    }

    /// Removes a role. If all of its peers had come, no peer expects it in this session any more,
    /// and its service forgets the name.
    pub(crate) fn free(&self, endpoint: &Endpoint) {
        let mut registry = self.registry();
        let slots = registry.roles.remove(endpoint);
        let (protocol, session, role) = endpoint;
        if slots.is_some_and(|slots| slots.values().all(|slot| slot.peer.token().is_some()))
            && let Some(service) = registry.services.get_mut(&(protocol.clone(), role.clone()))
        {
            service.sessions.remove(session);
        }
    }

    /// Registers a role in a session. `wire` makes the two ends of a route between this role and a
    /// peer that is on this host already, from their greetings: one for the role, one for the peer;
    /// or none if one of them will call. A role that comes from another host in the middle of a
    /// session has the peers already that it knows.
    ///
    /// Fails if the role has joined already.
    pub(crate) fn register(
        &self,
        endpoint: Endpoint,
        hellos: &[Hello],
        mut wire: impl FnMut(&Hello, &Hello) -> Option<[Arrival; 2]>,
    ) -> Result<Vec<UnboundedReceiver<Arrival>>, NetError> {
        let mut registry = self.registry();
        if registry.roles.contains_key(&endpoint) {
            let (_, session, role) = endpoint;
            return Err(NetError::Joined { role, session });
        }
        let (mut slots, mut receivers) = (BTreeMap::new(), Vec::new());
        for hello in hellos {
            let (arrivals, receiver) = mpsc::unbounded_channel();
            let far = hello.route.far();
            if !registry.roles.contains_key(&far) {
                registry.announce(far.clone(), &self.limits);
            }
            let known = hello.lane.known;
            let mut peer = known.map_or(SlotPeer::Absent, SlotPeer::Remote);
            let slot = registry.slot(&far, &hello.route.role);
            if let Some(slot) = slot.filter(|it| it.peer.token().is_none() && known.is_none())
                && let Some([own, theirs]) =
                    if hello.contract.fingerprint == slot.hello.contract.fingerprint {
                        wire(hello, &slot.hello)
                    } else {
                        Some(differ(hello))
                    }
            {
                slot.peer = SlotPeer::Wired(hello.lane.own);
                peer = SlotPeer::Wired(slot.hello.lane.own);
                slot.arrive(theirs);
                let _ = arrivals.send(own);
            }
            let slot = Slot { hello: hello.clone(), arrivals, peer, in_vain: None };
            slots.insert(hello.route.peer.clone(), slot);
            receivers.push(receiver);
        }
        registry.roles.insert(endpoint, slots);
        drop(registry);
        self.changed.notify_waiters();
        Ok(receivers)
    }

    /// Removes a role that moves to another host. Each of its peers on this host gets a lane, which
    /// `stay` begins from the greetings of the role and of the peer, and the receiver of arrivals.
    pub(crate) fn leave(
        &self,
        endpoint: &Endpoint,
        to: Vec<Address>,
        mut stay: impl FnMut(&Hello, Hello, UnboundedReceiver<Arrival>) -> Option<LaneTask>,
    ) -> BTreeMap<String, Leaving> {
        let mut registry = self.registry();
        let now = Instant::now();
        registry.moved.retain(|_, moved| moved.until > now);
        let slots = registry.roles.remove(endpoint).unwrap_or_default();
        let tokens = |slot: &Slot| [Some(slot.hello.lane.own), slot.peer.token()];
        let tokens = slots.iter().map(|(peer, slot)| (peer.clone(), tokens(slot))).collect();
        let moved = Moved { to, until: now + self.limits.resume, asks: BTreeMap::new(), tokens };
        registry.moved.insert(endpoint.clone(), moved);
        let mut leave = |Slot { hello, arrivals, peer, .. }: Slot| {
            let lane = match peer {
                SlotPeer::Left(_, lane) => lane,
                SlotPeer::Wired(_) => {
                    if let Some(stays) = registry.slot(&hello.route.far(), &hello.route.role) {
                        let (arrivals, receiver) = mpsc::unbounded_channel();
                        stays.arrivals = arrivals;
                        if let Some(task) = stay(&hello, stays.hello.clone(), receiver) {
                            stays.peer = SlotPeer::Left(hello.lane.own, Some(task));
                        }
                        return Leaving::Local(Box::new(stays.hello.clone()));
                    }
                    None
                }
                _ => None,
            };
            Leaving::Lane(arrivals, lane)
        };
        slots.into_iter().map(|(peer, slot)| (peer, leave(slot))).collect()
    }

    /// Notes that a peer of a role that has moved will call it here.
    pub(crate) fn expects_call(&self, endpoint: &Endpoint, peer: &str) {
        if let Some(moved) = self.registry().moved.get_mut(endpoint) {
            moved.asks.entry(peer.to_owned()).or_insert(moved.until);
        }
    }

    /// Takes the lane of a role to a peer that was on this host and has moved.
    pub(crate) fn take_lane(&self, own: &Hello) -> Option<LaneTask> {
        self.with_slot(own, |slot| match &mut slot.peer {
            SlotPeer::Left(_, lane) => lane.take(),
            _ => None,
        })?
    }

    /// Changes the slot of a role for a peer. `None` if there is no such slot.
    pub(super) fn with_slot<T>(
        &self,
        own: &Hello,
        change: impl FnOnce(&mut Slot) -> T,
    ) -> Option<T> {
        self.registry().slot(&own.route.near(), &own.route.peer).map(change)
    }

    /// The greeting of the role that a peer calls, if the role is here.
    pub(crate) fn hello_to(&self, hello: &Hello) -> Option<Hello> {
        let mut registry = self.registry();
        registry.slot(&hello.route.far(), &hello.route.role).map(|slot| slot.hello.clone())
    }
}

/// Two roles of one process that were built for different protocols.
fn differ(hello: &Hello) -> [Arrival; 2] {
    [&hello.route.peer, &hello.route.role].map(|peer| {
        let refusal = Refusal::Protocol("both are in one process".to_owned());
        Arrival::Failed(NetError::Refused { peer: peer.clone(), refusal })
    })
}
