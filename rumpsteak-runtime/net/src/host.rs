//! A host: the roles that a process plays, and where others reach them.

mod absence;
mod gate;
mod reception;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use self::gate::Gate;
use crate::address::{Address, addresses_of};
use crate::error::NetError;
use crate::handshake::{Answer, Hello, hear, say};
use crate::lane::Packed;
use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::transport::{Connection, Listener, Memory, Opening, Transports, is_final};

/// The part of a process that others see: the addresses at which it listens, and the roles that it
/// plays in sessions.
///
/// Roles of one session that join it at one host are wired in memory, whatever addresses they have.
/// A clone is the same host. When the last one is gone, nobody listens any more; sessions that were
/// joined go on as long as their connections do.
#[derive(Clone)]
pub struct Host {
    pub(crate) shared: Arc<Shared>,
    /// The tasks that listen: they end with the last clone.
    listening: Arc<Mutex<JoinSet<()>>>,
}

/// What a host and its tasks share.
pub(crate) struct Shared {
    pub(crate) transports: Transports,
    pub(crate) limits: Limits,
    state: Mutex<State>,
    /// A role has joined, or a call has had its answer.
    changed: Notify,
    gate: Mutex<Gate>,
    /// Places for connections that have greeted and wait for an answer.
    handshakes: Semaphore,
}

#[derive(Default)]
pub(crate) struct State {
    seats: BTreeMap<Place, Seat>,
    services: BTreeMap<(String, String), Announced>,
    /// The roles that have left in the middle of a session.
    moved: BTreeMap<Place, Moved>,
    pub(crate) listened: Vec<Listened>,
    /// Where a host that has one of these addresses is better called.
    pub(crate) better: BTreeMap<Address, Address>,
}

impl State {
    /// Tells the service that plays a role, if there is one, of a session in which it is expected:
    /// once, as long as peers ask for it.
    fn announce(&mut self, (protocol, session, role): Place, limits: &Limits) {
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
}

/// An address at which a host listens.
#[derive(Clone, Debug)]
pub(crate) struct Listened {
    pub(crate) address: Address,
    /// Whether sessions go on there; if not, whoever calls is told of an address where they do.
    pub(crate) has_sessions: bool,
}

/// A service: where new sessions are announced, and those that were, with when a peer last asked.
struct Announced {
    to: UnboundedSender<String>,
    sessions: BTreeMap<String, Instant>,
    next_sweep: Instant,
}

/// For how long a connection may take to greet, or to go when it was answered.
const MOMENT: Duration = Duration::from_secs(2);

/// How often the names of sessions are looked through.
const SWEEP: Duration = Duration::from_secs(1);

/// A role that has left in the middle of a session.
struct Moved {
    to: Vec<String>,
    /// Until when its peers are told.
    until: Instant,
    /// Until when which of them may still ask.
    asks: BTreeMap<String, Instant>,
    /// The tokens of both ends of each lane, without which a stranger is told nothing.
    tokens: BTreeMap<String, [Option<u128>; 2]>,
}

/// A role in a session: the protocol, the session and the role.
pub(crate) type Place = (String, String, String);

/// A role that has joined.
struct Seat {
    /// By peer.
    slots: BTreeMap<String, Slot>,
}

/// The place for one peer of a role.
struct Slot {
    hello: Hello,
    arrivals: UnboundedSender<Arrival>,
    /// The token of the peer that has come.
    taken: Option<u128>,
    /// Whether the peer is being called, and has not answered yet.
    is_calling: bool,
    /// Whether the peer has come on this host.
    is_wired: bool,
    /// The lane to a peer that has come on this host, and has left it.
    lane: Option<LaneTask>,
    /// How the peer, or a stranger in its name, has called last in vain.
    in_vain: Option<String>,
}

/// A peer of a role that goes on elsewhere.
pub(crate) struct Leaving {
    /// How the lane to it is told.
    pub(crate) arrivals: UnboundedSender<Arrival>,
    /// The lane, if the peer was on this host and has left it.
    pub(crate) lane: Option<LaneTask>,
    /// How it greets the role, if it stays on this host.
    pub(crate) peer: Option<Hello>,
}

/// The task of a lane.
pub(crate) type LaneTask = JoinHandle<Result<(), NetError>>;

impl Slot {
    /// A role that has given up in the meantime hears nothing.
    fn arrive(&self, arrival: Arrival) {
        let _ = self.arrivals.send(arrival);
    }
}

/// A peer that has come.
pub(crate) enum Arrival {
    /// On this host: the other end of its route.
    Local(Box<dyn Any + Send>),
    /// Over a connection. The first one has had its answer; those that are made again have not.
    Remote(Connection, Box<Hello>, Call),
    /// It does not come.
    Failed(NetError),
    /// It is not the peer: the role itself leaves for another host, with what this end has.
    Leave(oneshot::Sender<Result<Packed, NetError>>),
}

/// What a call has come to.
pub(crate) enum Greeted {
    Welcome(Connection, Box<Hello>),
    /// The peer is at one of these addresses now.
    Moved(Vec<Address>),
    /// It is to be called at one of these addresses.
    Offers(Vec<Address>),
}

/// Who has made a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Own,
    Theirs,
    /// The peer has, and not for the first time: it waits for an answer.
    Again,
}

impl Host {
    /// A host at which nobody listens: its roles call their peers, or have them beside them.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Transports::default(), Limits::default())
    }

    /// A host with these transports and limits.
    #[must_use]
    pub fn with(transports: Transports, limits: Limits) -> Self {
        let shared = Shared {
            transports,
            state: Mutex::default(),
            changed: Notify::new(),
            gate: Mutex::default(),
            handshakes: Semaphore::new(limits.connections),
            limits,
        };
        Self { shared: Arc::new(shared), listening: Arc::default() }
    }

    /// Listens at an address, and returns the one by which others reach it: another one if a part
    /// was left open, as by port 0. A host may listen at several addresses. A broker that is not
    /// there yet is waited for, as long as [peers are](Limits::join).
    ///
    /// # Errors
    ///
    /// If it is no address, or nobody can listen there.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nobody listens then.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn listen(&self, address: &str) -> Result<Address, NetError> {
        self.listen_for(address, true).await
    }

    /// Listens at an address for nothing but to say where sessions go on: at the addresses at
    /// which the host [listens](Self::listen), whichever of these suits the peer best.
    ///
    /// # Errors
    ///
    /// As `listen`.
    ///
    /// # Panics
    ///
    /// As `listen`.
    pub async fn meet(&self, address: &str) -> Result<Address, NetError> {
        self.listen_for(address, false).await
    }

    /// Waits until the peers of all sessions that have [gone](crate::Joined::pack) to other hosts
    /// know where they are, or do not ask any more. A program that ends before may leave a peer
    /// without the address.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: it only waits.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    pub async fn told(&self) {
        loop {
            let mut changed = std::pin::pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            let now = Instant::now();
            let asks = |moved: &Moved| moved.asks.values().max().copied();
            let until = self.shared.state().moved.values().filter_map(asks).max();
            let Some(until) = until.filter(|until| *until > now) else { return };
            let _ = timeout_at(until, changed).await;
        }
    }

    async fn listen_for(&self, address: &str, has_sessions: bool) -> Result<Address, NetError> {
        let address: Address = address.parse()?;
        let Shared { transports, limits, .. } = &*self.shared;
        let transport = transports.of(&address)?;
        let (until, mut pause) = (Instant::now() + limits.join, FIRST_PAUSE);
        let (listener, place) = loop {
            match transport.listen(address.place(), limits.frame).await {
                Ok(listens) => break listens,
                Err(error)
                    if error.kind() == io::ErrorKind::ConnectionRefused
                        && Instant::now() < until => {}
                Err(error) => {
                    let source = Arc::new(error);
                    return Err(NetError::Listen { address, source });
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        let reached = Address::new(address.scheme(), &place);
        let listened = Listened { address: reached.clone(), has_sessions };
        self.shared.state().listened.push(listened.clone());
        lock(&self.listening).spawn(accept(Arc::clone(&self.shared), listener, listened));
        Ok(reached)
    }

    /// The sessions in which others expect this role here, by their names: those of roles that wait
    /// already, and new ones.
    pub(crate) fn announce(&self, protocol: &str, role: &str) -> UnboundedReceiver<String> {
        let (to, announced) = mpsc::unbounded_channel();
        let service = Announced { to, sessions: BTreeMap::new(), next_sweep: Instant::now() };
        let mut state = self.shared.state();
        state.services.insert((protocol.to_owned(), role.to_owned()), service);
        let waits = |seat: &Seat| seat.slots.get(role).is_some_and(|slot| slot.taken.is_none());
        let waiting = state.seats.iter().filter(|((of, ..), seat)| of == protocol && waits(seat));
        let expected =
            waiting.map(|((of, session, _), _)| (of.clone(), session.clone(), role.to_owned()));
        let expected: Vec<Place> =
            expected.filter(|place| !state.seats.contains_key(place)).collect();
        expected.into_iter().for_each(|place| state.announce(place, &self.shared.limits));
        drop(state);
        self.shared.changed.notify_waiters();
        announced
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state();
        let addresses: Vec<_> = state.listened.iter().map(|at| at.address.to_string()).collect();
        f.debug_struct("Host")
            .field("listens", &addresses)
            .field("plays", &state.seats.keys())
            .finish()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds the lock leaves things half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Frees the place of a role. If all of its peers had come, no one expects it in this session
    /// any more, and the name is forgotten.
    pub(crate) fn free(&self, place: &Place) {
        let mut state = self.state();
        let seat = state.seats.remove(place);
        if seat.is_some_and(|seat| seat.slots.values().all(|slot| slot.taken.is_some()))
            && let Some(service) = state.services.get_mut(&(place.0.clone(), place.2.clone()))
        {
            service.sessions.remove(&place.1);
        }
    }

    /// Takes the place of a role in a session. `wire` makes the two ends of a route between this
    /// role and a peer that is on this host already, from the peer's greeting: one for the peer,
    /// and what is kept in the place of an arrival; or none if one of them will call. A role that
    /// comes from another host in the middle of a session has the peers already that it knows.
    ///
    /// # Errors
    ///
    /// If the role has joined already.
    pub(crate) fn sit(
        &self,
        place: Place,
        hellos: &[Hello],
        mut wire: impl FnMut(&Hello, &Hello) -> Option<[Arrival; 2]>,
    ) -> Result<Vec<UnboundedReceiver<Arrival>>, NetError> {
        let mut state = self.state();
        let (protocol, session, role) = &place;
        if state.seats.contains_key(&place) {
            let (role, session) = (role.clone(), session.clone());
            return Err(NetError::Joined { role, session });
        }
        let (mut slots, mut receivers) = (BTreeMap::new(), Vec::new());
        for hello in hellos {
            let (arrivals, receiver) = mpsc::unbounded_channel();
            let of_peer = (protocol.clone(), session.clone(), hello.peer.clone());
            if !state.seats.contains_key(&of_peer) {
                state.announce(of_peer.clone(), &self.limits);
            }
            let seat = state.seats.get_mut(&of_peer);
            let slot = seat.and_then(|seat| seat.slots.get_mut(role));
            let (mut taken, mut is_wired) = (hello.known, false);
            if let Some(slot) = slot.filter(|slot| slot.taken.is_none() && taken.is_none()) {
                let is_same = hello.contract == slot.hello.contract;
                let differ = || {
                    [&hello.peer, role].map(|peer| {
                        let difference = "both are in one process".to_owned();
                        let (peer, refusal) = (peer.clone(), Refusal::Protocol(difference));
                        Arrival::Failed(NetError::Refused { peer, refusal })
                    })
                };
                let wired = if is_same { wire(hello, &slot.hello) } else { Some(differ()) };
                if let Some([own, theirs]) = wired {
                    slot.taken = Some(hello.instance);
                    slot.is_wired = true;
                    is_wired = true;
                    taken = Some(slot.hello.instance);
                    slot.arrive(theirs);
                    let _ = arrivals.send(own);
                }
            }
            let (hello, is_calling, lane, in_vain) = (hello.clone(), false, None, None);
            let slot = Slot { hello, arrivals, taken, is_calling, is_wired, lane, in_vain };
            slots.insert(slot.hello.peer.clone(), slot);
            receivers.push(receiver);
        }
        state.seats.insert(place, Seat { slots });
        drop(state);
        self.changed.notify_waiters();
        Ok(receivers)
    }

    /// Frees the place of a role that goes on elsewhere. Each of its peers on this host gets a
    /// lane, which `stay` begins: it is given how the role and the peer greet each other, and where
    /// arrivals come.
    pub(crate) fn leave(
        &self,
        place: &Place,
        to: Vec<String>,
        mut stay: impl FnMut(&Hello, Hello, UnboundedReceiver<Arrival>) -> Option<LaneTask>,
    ) -> BTreeMap<String, Leaving> {
        let mut state = self.state();
        let now = Instant::now();
        state.moved.retain(|_, moved| moved.until > now);
        let until = now + self.limits.resume;
        let slots = state.seats.remove(place).map(|seat| seat.slots).unwrap_or_default();
        let tokens = |(peer, slot): (&String, &Slot)| {
            (peer.clone(), [Some(slot.hello.instance), slot.taken])
        };
        let tokens = slots.iter().map(tokens).collect();
        let moved = Moved { to, until, asks: BTreeMap::new(), tokens };
        state.moved.insert(place.clone(), moved);
        let mut leave = |slot: Slot| {
            let Slot { hello, arrivals, lane, .. } = slot;
            let mut peer = None;
            let of_peer = (hello.protocol.clone(), hello.session.clone(), hello.peer.clone());
            let seat = state.seats.get_mut(&of_peer).filter(|_| slot.is_wired && lane.is_none());
            if let Some(stays) = seat.and_then(|seat| seat.slots.get_mut(&hello.role)) {
                let (arrivals, receiver) = mpsc::unbounded_channel();
                stays.arrivals = arrivals;
                stays.lane = stay(&hello, stays.hello.clone(), receiver);
                peer = Some(stays.hello.clone());
            }
            Leaving { arrivals, lane, peer }
        };
        slots.into_iter().map(|(peer, slot)| (peer, leave(slot))).collect()
    }

    /// Takes down that a peer of a role that has left will call it here.
    pub(crate) fn calls(&self, place: &Place, peer: &str) {
        if let Some(moved) = self.state().moved.get_mut(place) {
            moved.asks.entry(peer.to_owned()).or_insert(moved.until);
        }
    }

    /// The lane of a role to a peer that was on this host and has left it.
    pub(crate) fn stayed(&self, own: &Hello) -> Option<LaneTask> {
        self.slot(own, |slot| slot.lane.take()).flatten()
    }

    /// Changes the slot of a role for a peer. `None` if there is none.
    fn slot<T>(&self, own: &Hello, change: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        let place = (own.protocol.clone(), own.session.clone(), own.role.clone());
        let mut state = self.state();
        let slot = state.seats.get_mut(&place)?.slots.get_mut(&own.peer)?;
        Some(change(slot))
    }

    /// Calls a peer until it answers, or has come by itself.
    pub(crate) async fn call(self: Arc<Self>, own: Hello, addresses: Vec<Address>, until: Instant) {
        let (mut pause, mut last) = (FIRST_PAUSE, None);
        loop {
            for address in &addresses {
                let free = self.slot(&own, |slot| {
                    slot.is_calling = slot.taken.is_none();
                    slot.is_calling
                });
                if free != Some(true) {
                    return;
                }
                let called = timeout_at(until, self.greet(address, &own)).await;
                let welcomed = self.slot(&own, |slot| {
                    slot.is_calling = false;
                    let failed = |error| slot.arrive(Arrival::Failed(error));
                    match called {
                        // A peer that has come by itself is taken in place of the one that was
                        // called.
                        _ if slot.taken.is_some() => {}
                        Ok(Ok(Greeted::Welcome(connection, hello))) => {
                            slot.taken = Some(hello.instance);
                            slot.arrive(Arrival::Remote(connection, hello, Call::Own));
                        }
                        // Only who knows its peer is told that it has moved, and offers have been
                        // followed.
                        Ok(Ok(Greeted::Moved(_) | Greeted::Offers(_))) | Err(_) => return false,
                        Ok(Err(NetError::Absent { last: why, .. })) => {
                            last = why;
                            return false;
                        }
                        Ok(Err(error)) => failed(error),
                    }
                    true
                });
                self.changed.notify_waiters();
                if welcomed != Some(false) {
                    return;
                }
            }
            if timeout_at(until, sleep(pause)).await.is_err() {
                let absent = self.absent(&own, &addresses, last);
                self.slot(&own, |slot| slot.arrive(Arrival::Failed(absent)));
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Calls a peer once, at this address.
    ///
    /// # Errors
    ///
    /// [`Absent`](NetError::Absent) if another call may succeed.
    pub(crate) async fn greet_at(
        self: &Arc<Self>,
        address: &Address,
        own: &Hello,
    ) -> Result<Greeted, NetError> {
        let transport = self.transports.of(address)?;
        let greet = async {
            let frame = self.limits.frame;
            // A peer that has come to this host in the middle of the session, or plays on demand,
            // needs no transport.
            let is_here = self.hello_to(own).is_some();
            let mut connection = if is_here {
                let [near, far] = Memory::pair(frame);
                let shared = Arc::clone(self);
                tokio::spawn(async move {
                    if let Ok((far, hello)) = hear_greeting(Box::pin(async { Ok(far) })).await {
                        shared.welcome(far, hello, None, true).await;
                    }
                });
                near
            } else {
                transport.connect(address.place(), frame).await?
            };
            say(&mut connection, own).await?;
            let answer = hear(&mut connection).await?;
            Ok((connection, answer.unwrap_or(Answer::Refused(Refusal::NoGreeting))))
        };
        let greeted = timeout(self.limits.handshake, greet).await;
        let greeted = greeted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let absent = |error| self.absent(own, &[], Some(Arc::new(error)));
        let (mut connection, answer) = greeted.map_err(|error: io::Error| {
            if is_final(&error) {
                let (address, source) = (address.clone(), Arc::new(error));
                return NetError::Call { address, source };
            }
            absent(error)
        })?;
        let refusal = match answer {
            Answer::Welcome(hello) if hello.role != own.peer || hello.peer != own.role => {
                Refusal::Unknown
            }
            Answer::Welcome(hello) if !connection.may_play(&hello.protocol, &hello.role) => {
                Refusal::Certificate
            }
            Answer::Welcome(hello) => match own.fits(&hello).await {
                Ok(()) => {
                    let home = connection.home.take();
                    let home = home.as_deref().unwrap_or(address.place());
                    connection.at = Some(Address::new(address.scheme(), home));
                    return Ok(Greeted::Welcome(connection, Box::new(hello)));
                }
                Err(refusal) => refusal,
            },
            Answer::Moved(_) | Answer::Offers(_)
                if !connection.may_play(&own.protocol, &own.peer) =>
            {
                Refusal::Certificate
            }
            Answer::Moved(to) => {
                let at = addresses_of(&to)?;
                // The host that was left waits for word that this end has heard it. It may be
                // impatient, or the connection break: then it believes that this end has not.
                tokio::spawn(dismiss(connection, Answer::Moved(to), true));
                return Ok(Greeted::Moved(at));
            }
            Answer::Offers(at) => return Ok(Greeted::Offers(addresses_of(&at)?)),
            // It may be known a moment later.
            Answer::Refused(Refusal::Unknown) if own.known.is_none() => {
                return Err(absent(io::Error::other(Refusal::Unknown.to_string())));
            }
            Answer::Refused(refusal) => refusal,
        };
        Err(NetError::Refused { peer: own.peer.clone(), refusal })
    }
}

/// Addresses, as they travel.
pub(crate) fn texts(addresses: &[Address]) -> Vec<String> {
    addresses.iter().map(ToString::to_string).collect()
}

/// How long to wait before a peer is called again: at first, and at most.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(10);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Takes connections, for as long as the host listens.
async fn accept(shared: Arc<Shared>, mut listener: Box<dyn Listener>, at: Listened) {
    loop {
        match listener.accept().await {
            Ok((opening, caller)) => shared.admit(caller, opening, at.clone()),
            Err(_) => {
                // Too many open files, mostly.
                lock(&shared.gate).give_up_oldest(|_| true);
                sleep(FIRST_PAUSE).await;
            }
        }
    }
}

/// Hears the greeting of a connection, or says that what has come is none.
async fn hear_greeting(opening: Opening) -> io::Result<(Connection, Hello)> {
    let mut connection = opening.await?;
    if let Some(hello) = hear(&mut connection).await? {
        return Ok((connection, hello));
    }
    dismiss(connection, Answer::Refused(Refusal::NoGreeting), true).await;
    Err(io::ErrorKind::InvalidData.into())
}

/// Answers who is not to stay, and, if this end is patient, waits for a moment until it has gone,
/// for over some transports the answer is lost if this end goes first; or until it says something.
pub(crate) async fn dismiss(
    mut connection: Connection,
    answer: Answer,
    is_patient: bool,
) -> Option<Answer> {
    let said = async {
        say(&mut connection, &answer).await.ok()?;
        if is_patient { hear(&mut connection).await.ok()? } else { None }
    };
    timeout(MOMENT, said).await.ok()?
}
