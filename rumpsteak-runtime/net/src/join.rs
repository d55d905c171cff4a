//! Joining a session, and leaving it.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use rumpsteak_runtime::channel::{Capacity, Queue, QueueReceiver, QueueSender};
use rumpsteak_runtime::{
    Error, ErrorKind, Role,
    private::{
        Played,
        wiring::{Elsewhere, Wire, Wiring},
    },
    transport::Labelled,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::{Instant, timeout_at};

use crate::address::{Address, addresses_of};
use crate::codec::{Codec, Postcard};
use crate::demand::Awaited;
use crate::directory::Directory;
use crate::error::NetError;
use crate::guard::Guard;
use crate::handshake::{Hello, Room, random};
use crate::host::{Arrival, Host, LaneTask, Shared};
use crate::lane::{Lane, reader, unwritten};
use crate::link::{Fate, Incoming, Net, WINDOW, net, window, wired};
use crate::reach::{Reach, run};
use crate::refusal::{LONGEST_NAME, Refusal};
use crate::schema;

/// A role that is about to join a session. Made by [`Host::join`].
#[must_use = "nothing happens before `connect`"]
pub struct Join<R: Role, C = Postcard> {
    host: Host,
    session: String,
    codec: C,
    addresses: Vec<(String, Vec<Address>)>,
    directory: Directory,
    transports: Vec<String>,
    wrong: Option<NetError>,
    /// Kept from where the role is known to join: no further call says it again if it cannot.
    connect: fn(Self) -> BoxFuture<'static, Result<Joined<R>, NetError>>,
}

/// A service: it plays one role for as many sessions as others begin. Made by [`Host::serve`].
pub struct Service<R: Role> {
    host: Host,
    sessions: UnboundedReceiver<String>,
    join: fn(&Host, String) -> Join<R>,
}

/// A role that takes part in a session.
pub struct Joined<R: Role> {
    /// The role, whose routes lead to its peers.
    pub role: R,
    pub(crate) ties: Vec<Tie>,
    pub(crate) guard: Arc<Guard>,
    pub(crate) writes: Box<dyn Writes<R::Message>>,
}

/// What holds a route of a role, in the order of its routes.
pub(crate) struct Tie {
    /// How this end greets the peer.
    pub(crate) own: Hello,
    pub(crate) fate: Fate,
    /// `None` if the peer is on this host.
    pub(crate) lane: Option<LaneTask>,
}

/// A codec, for messages of one type.
pub(crate) trait Writes<M>: Send + Sync {
    fn bytes_of(&self, peer: &str, messages: Vec<M>) -> Result<Vec<Vec<u8>>, NetError>;

    /// Moves messages between these queues of a role that stays and its peer that leaves.
    fn lane(
        &self,
        queues: (QueueSender<M>, QueueReceiver<M>),
        reach: Reach,
        fate: Fate,
    ) -> LaneTask;
}

impl<M: Labelled + Serialize + DeserializeOwned + Send + 'static, C: Codec> Writes<M> for C {
    fn bytes_of(&self, peer: &str, messages: Vec<M>) -> Result<Vec<Vec<u8>>, NetError> {
        let bytes = |message: &M| {
            let mut bytes = Vec::new();
            let written = self.encode(message, &mut bytes);
            written.map(|()| bytes).map_err(unwritten(peer, message))
        };
        messages.iter().map(bytes).collect()
    }

    fn lane(
        &self,
        (incoming, outgoing): (QueueSender<M>, QueueReceiver<M>),
        reach: Reach,
        fate: Fate,
    ) -> LaneTask {
        // The role tells after how many it was told to when it was wired.
        let window = window(incoming.queue().capacity);
        let incoming = Incoming::Messages(incoming, reader(&reach.own.peer, self.clone()));
        let queues = (incoming, outgoing);
        let Reach { shared, own, theirs, .. } = &reach;
        let far = (queues, fate);
        let lane = Lane::new([own, theirs], self.clone(), far, window, &shared.limits);
        tokio::spawn(run(lane, reach, None))
    }
}

impl Host {
    /// Joins a session as the role `R`. All of its roles give it the same name.
    ///
    /// ```no_run
    /// # async fn f<K: rumpsteak_net::Joins>(host: rumpsteak_net::Host) -> Result<(), rumpsteak_net::NetError> {
    /// let k = host.join::<K>("job 42").peer("s", ["tcp://10.0.0.7:4000"]).connect().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<R: Joins>(&self, session: impl Into<String>) -> Join<R> {
        Join {
            host: self.clone(),
            session: session.into(),
            codec: Postcard,
            addresses: Vec::new(),
            directory: Directory::default(),
            transports: Vec::new(),
            wrong: None,
            connect: |join| Box::pin(connect(join)),
        }
    }

    /// Plays the role `R` in each session that others begin or have begun: see [`Service::next`].
    /// A session is announced once, as long as it goes on or peers ask for it. When it is over, its
    /// name is forgotten, and can be used again.
    pub fn serve<R: Joins>(&self) -> Service<R> {
        let sessions = self.announce(R::PROTOCOL, R::NAME);
        Service { host: self.clone(), sessions, join: |host, session| host.join(session) }
    }
}

impl<R: Role> Service<R> {
    /// The next session that others have begun and in which they wait for this role. `None` never
    /// comes while the host is there.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no session is lost.
    pub async fn next(&mut self) -> Option<Join<R>> {
        let session = self.sessions.recv().await?;
        Some((self.join)(&self.host, session))
    }
}

/// A role that can take part in a session over [`Net`]: its messages are [`Portable`], and all of
/// its routes are [`Net`]s. Nothing more is to be done for it.
pub trait Joins: Role<Message: Portable> + Wire<Elsewhere> {}

impl<R: Role<Message: Portable> + Wire<Elsewhere>> Joins for R {}

/// A message type that can be written and read: it derives serde's `Serialize` and `Deserialize`,
/// and is `Send`. Nothing more is to be done for it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go to another process",
    label = "its messages are of type `{Self}`, which cannot be written and read",
    note = "add `#[derive(serde::Serialize, serde::Deserialize)]` to `{Self}`, or, if `protocol!(…)` generates it, let that be \
            `protocol!(…, routes = rumpsteak_net::Net, derive(serde::Serialize, serde::Deserialize))`; it has to be `Send`, too"
)]
pub trait Portable: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<M: Serialize + DeserializeOwned + Send + 'static> Portable for M {}

impl<R: Role, C> Join<R, C> {
    /// The name of the session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Where a peer is to be called: at the first of these addresses where it answers. Peers
    /// without an address call this role, or join at the same [`Host`].
    pub fn peer<A>(mut self, role: &str, addresses: impl IntoIterator<Item = A>) -> Self
    where
        A: AsRef<str>,
    {
        match addresses_of(addresses) {
            Ok(addresses) => self.addresses.push((role.to_owned(), addresses)),
            Err(error) => self.wrong = Some(error.into()),
        }
        self
    }

    /// Where those peers are to be called of which [`peer`](Self::peer) says nothing. A directory
    /// may have roles that are no peers.
    pub fn peers(self, directory: &Directory) -> Self {
        Self { directory: directory.clone(), ..self }
    }

    /// The transports over which this role talks with peers on other hosts: their schemes, best
    /// first. A peer may [listen](Host::listen) at several addresses, and tells them whoever calls
    /// one of them. A peer that calls this role over another transport is sent to an address of
    /// these, or refused, and has said no more than its greeting. Without this, the role talks
    /// over the transport that is called.
    pub fn over<T: Into<String>>(self, transports: impl IntoIterator<Item = T>) -> Self {
        Self { transports: transports.into_iter().map(Into::into).collect(), ..self }
    }

    /// Writes messages by another codec than [`Postcard`]. All roles of a session have the same.
    pub fn codec<D: Codec>(self, codec: D) -> Join<R, D>
    where
        R: Joins,
    {
        let Self { host, session, addresses, directory, transports, wrong, .. } = self;
        let connect = |join| Box::pin(connect(join)) as BoxFuture<'static, _>;
        Join { host, session, codec, addresses, directory, transports, wrong, connect }
    }

    /// Waits until all peers of the role have joined the session as well. Nobody waits for a role
    /// that plays on demand; one that does waits for the first of its peers.
    ///
    /// # Errors
    ///
    /// If an address is none, has no sense to its transport, or is that of no peer; if the role has
    /// joined the session here already; if a peer does not come in time, or does not fit; if it
    /// plays on another host and neither end can call the other.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up: peers find that this role is lost.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    pub async fn connect(self) -> Result<Joined<R>, NetError> {
        (self.connect)(self).await
    }
}

async fn connect<R: Joins, C: Codec>(join: Join<R, C>) -> Result<Joined<R>, NetError> {
    if let Some(error) = &join.wrong {
        return Err(error.clone());
    }
    if R::PLAYED.0.projections.is_empty() {
        return Err(NetError::NoProtocol { role: R::NAME });
    }
    let queues = queues::<R>()?;
    let peers: Vec<&str> = queues.iter().map(|queue| queue.to).collect();
    if let Some((peer, _)) = join.addresses.iter().find(|(peer, _)| !peers.contains(&&**peer)) {
        return Err(NetError::NoPeer { role: R::NAME, peer: peer.clone(), peers });
    }
    let mut hellos = hellos::<R, C>(&join.session, &queues)?;
    hellos.iter_mut().for_each(|hello| hello.transports.clone_from(&join.transports));

    let shared = &join.host.shared;
    let place = (R::PROTOCOL.to_owned(), join.session.clone(), R::NAME.to_owned());
    let on_demand = R::PLAYED.0.on_demand;
    let waits = |own: &Hello| ![&*own.role, &own.peer].iter().any(|it| on_demand.contains(it));
    let wires = |own: &Hello, far: &Hello| waits(own).then(|| wire::<R::Message>(own, far));
    let arrivals = shared.sit(place.clone(), &hellos, wires)?;
    let guard = Guard::new(shared, place, on_demand);
    let until = Instant::now() + shared.limits.join;
    let mut calls = tokio::task::JoinSet::new();
    let mut awaited = Vec::new();
    for (own, arrivals) in hellos.into_iter().zip(arrivals) {
        let (shared, guard) = (Arc::clone(shared), Arc::clone(&guard));
        let addresses = join.addresses_of(&own.peer);
        if waits(&own) && !addresses.is_empty() {
            calls.spawn(Arc::clone(&shared).call(own.clone(), addresses.clone(), until));
        }
        awaited.push(Awaited { shared, own, addresses, arrivals, guard });
    }
    // Who calls says itself when there is nobody.
    let until = until + Duration::from_secs(1);
    let (mut ends, mut ties) = (Vec::new(), Vec::new());
    let (meets, mut met) = mpsc::unbounded_channel();
    for mut peer in awaited {
        let own = peer.own.clone();
        let (end, fate, lane) = if waits(&own) {
            match peer.arrival(until).await {
                Arrival::Failed(error) => return Err(error),
                // A role leaves when it has joined.
                Arrival::Leave(_) => return Err(peer.absent()),
                Arrival::Local(end) => {
                    let (end, fate) = local(end, &own.peer)?;
                    (end, fate, None)
                }
                Arrival::Remote(connection, theirs, whose) => {
                    let (end, lane, fate) = lane(&own, Some(&theirs), join.codec.clone(), shared);
                    let task = peer.meet(lane, connection, *theirs, whose);
                    (end, fate, Some(tokio::spawn(task)))
                }
            }
        } else {
            let (end, lane, fate) = lane(&own, None, join.codec.clone(), shared);
            (end, fate, Some(tokio::spawn(peer.meet_on_demand(lane, meets.clone()))))
        };
        ends.push(end);
        ties.push(Tie { own, fate, lane });
    }
    drop(meets);
    if on_demand.contains(&R::NAME)
        && let Some(Tie { own, .. }) = ties.first()
        && timeout_at(until, met.recv()).await.ok().flatten().is_none()
    {
        return Err(shared.absent(own, &join.addresses_of(&own.peer), None));
    }
    Ok(Joined { role: role_of(ends), ties, guard, writes: Box::new(join.codec) })
}

/// The end of a route within the host.
fn local<M: 'static>(end: Box<dyn Any>, peer: &str) -> Result<(Net<M>, Fate), NetError> {
    let end = end.downcast().map_err(|_| {
        let refusal = Refusal::Type(schema::name::<M>().to_owned());
        NetError::Refused { peer: peer.to_owned(), refusal }
    })?;
    Ok(*end)
}

/// A role with these ends of its routes.
pub(crate) fn role_of<R: Joins>(ends: Vec<Net<R::Message>>) -> R {
    let mut ends = ends.into_iter();
    let mut give = |_, _| Some(Box::new(ends.next()?) as Box<dyn Any>);
    R::wire(&mut Wiring::elsewhere(&mut give))
}

impl<R: Role, C> Join<R, C> {
    fn addresses_of(&self, peer: &str) -> Vec<Address> {
        let of_peer = self.addresses.iter().filter(|(role, _)| role == peer);
        let told: Vec<Address> = of_peer.flat_map(|(_, at)| at.clone()).collect();
        if told.is_empty() { self.directory.of(peer) } else { told }
    }
}

/// The queues into which a role sends, in the order of its routes.
pub(crate) fn queues<R: Joins>() -> Result<Vec<Queue>, NetError> {
    let (mut queues, mut other) = (Vec::new(), None);
    let mut note = |queue: Queue, route| {
        if route != TypeId::of::<Net<R::Message>>() {
            other.get_or_insert(queue.to);
        }
        queues.push(queue);
        None
    };
    // A role that is connected to nobody.
    drop(R::wire(&mut Wiring::elsewhere(&mut note)));
    match other {
        Some(peer) => Err(NetError::Route { role: R::NAME, peer }),
        None => Ok(queues),
    }
}

/// How a role greets the peers to which it has these queues: each with a token of its own.
///
/// # Errors
///
/// [`NetError::Ambiguous`], [`NetError::SessionName`] and [`NetError::Random`].
pub(crate) fn hellos<R: Joins, C: Codec>(
    session: &str,
    queues: &[Queue],
) -> Result<Vec<Hello>, NetError> {
    if session.len() > LONGEST_NAME {
        let (start, bytes) = (session.chars().take(40).collect(), session.len());
        return Err(NetError::SessionName { start, bytes });
    }
    // One search for all.
    let types = if C::WRITES_NAMES { Ok(BTreeMap::new()) } else { schema::of::<R::Message>() };
    let types = types.map_err(|name| NetError::Ambiguous { name })?;
    let Played { projections, closed, .. } = R::PLAYED.0;
    let token = || random().map_err(|error| NetError::Random(Arc::new(error)));
    let hello = |queue: &Queue| -> Result<Hello, NetError> {
        Ok(Hello {
            protocol: R::PROTOCOL.to_owned(),
            session: session.to_owned(),
            role: R::NAME.to_owned(),
            peer: queue.to.to_owned(),
            contract: schema::fingerprint(projections.bytes().chain(closed.to_be_bytes())),
            projections: told_projections::<R>(),
            system: R::PLAYED.0.system,
            capacity: queue.capacity.into(),
            codec: C::NAME.to_owned(),
            labels: R::Message::LABELS.lines().map(str::to_owned).collect(),
            types: types.clone(),
            instance: token()?,
            known: None,
            moves: Vec::new(),
            received: 0,
            transports: Vec::new(),
        })
    };
    queues.iter().map(hello).collect()
}

/// What other versions are compared with; nothing if it is too long for a greeting, or none fits.
fn told_projections<R: Joins>() -> String {
    let Played { projections, closed, .. } = R::PLAYED.0;
    let is_told = cfg!(feature = "compat") && projections.len() <= LONGEST && closed == 0;
    if is_told { projections.to_owned() } else { String::new() }
}

/// How many bytes of a greeting are for the projections at most.
const LONGEST: usize = 48 << 10;

/// The two ends of a route within the host: for `near`, and for `far`.
fn wire<M: Send + 'static>(near: &Hello, far: &Hello) -> [Arrival; 2] {
    let [sent, received] =
        [(near, far), (far, near)].map(|(from, to)| Queue::new(sending(capacity(from, to))));
    wired::<M>(sent, received).map(|end| Arrival::Local(Box::new(end)))
}

/// The capacity of the queue from one end to another. A capacity is proven for the sessions of a
/// whole system, so it only counts if both ends are of one system.
fn capacity(from: &Hello, to: &Hello) -> Capacity {
    match from.capacity {
        _ if from.system == 0 || from.system != to.system => Capacity::Growable,
        // What a stranger asks for takes memory.
        Room::AtMost(most) if most <= LARGEST => Capacity::AtMost(most as usize),
        Room::Waits(room) if room <= LARGEST => Capacity::Waits(room as usize),
        _ => Capacity::Growable,
    }
}

/// The capacity of the queue that a role sends into. It grows even where there are at most so many
/// messages: a third role may be of another build, and then there may be more.
fn sending(capacity: Capacity) -> Capacity {
    match capacity {
        Capacity::AtMost(_) => Capacity::Growable,
        other => other,
    }
}

/// How many messages wait for the task of a connection at most, where waiting is safe.
const ROOM: usize = 1024;

/// The largest queue that is made because an end says so.
const LARGEST: u32 = 1024;

/// A route over a connection: the end of the role, and what its task moves messages with. Of a peer
/// that has not come yet, nothing is proven.
pub(crate) fn lane<M, C>(
    own: &Hello,
    theirs: Option<&Hello>,
    codec: C,
    shared: &Shared,
) -> (Net<M>, Lane<M, C>, Fate)
where
    M: Labelled + Serialize + DeserializeOwned + 'static,
    C: Codec,
{
    let stranger = Hello { system: 0, ..own.clone() };
    let theirs = theirs.unwrap_or(&stranger);
    // Where waiting is safe with some room, it is so with more: a frame is costlier than a message.
    let at_least = |least: usize, capacity| match capacity {
        Capacity::Waits(room) => Capacity::Waits(room.max(least)),
        other => other,
    };
    let window = window(at_least(WINDOW, capacity(theirs, own)));
    let fate = Fate::default();
    let sent = Queue::new(at_least(ROOM, sending(capacity(own, theirs))));
    let read = reader(&own.peer, codec.clone());
    let (end, far) = net(sent, window, Arc::clone(&fate), read);
    let far = (far, Arc::clone(&fate));
    (end, Lane::new([own, theirs], codec, far, window, &shared.limits), fate)
}

impl<R: Role> Joined<R> {
    /// Runs a process of the role, and then [leaves](Self::leave), even if the process fails or
    /// panics: its peers hear of that at once, and not only when they have waited for a program
    /// that has ended.
    ///
    /// ```no_run
    /// # use rumpsteak_net::{Host, Joins};
    /// # use rumpsteak_runtime::Result;
    /// # async fn f<K: Joins>(host: Host, kernel: impl AsyncFnOnce(&mut K) -> Result<()>)
    /// # -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// // async fn kernel(role: &mut K) -> Result<()>
    /// host.join::<K>("job 42").connect().await?.play(kernel).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Roles of one program are played by `join!`: `try_join!` drops the others when one has
    /// failed, and they have not left. Nor is the first error the cause: a role that has failed
    /// first waits until its peers have left, so theirs come before it.
    ///
    /// # Errors
    ///
    /// What the process returns; [`ErrorKind::Leave`] if it succeeds, and the role cannot leave.
    ///
    /// # Panics
    ///
    /// If the process does, when the role has left.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropping the future in the middle of a session poisons the role and wakes
    /// its peers. To wait until they know of it, run the process on [`role`](Self::role) and leave.
    pub async fn play<T, E: From<Error>>(
        mut self,
        process: impl AsyncFnOnce(&mut R) -> Result<T, E>,
    ) -> Result<T, E> {
        let ended = {
            let mut process = std::pin::pin!(process(&mut self.role));
            // Nobody sees the process again that has panicked, and a role can see that it is
            // poisoned.
            let poll = |context: &mut Context<'_>| match catch_unwind(AssertUnwindSafe(|| {
                process.as_mut().poll(context)
            })) {
                Ok(polled) => polled.map(Ok),
                Err(panic) => Poll::Ready(Err(panic)),
            };
            std::future::poll_fn(poll).await
        };
        let left = self.leave().await;
        let value = ended.unwrap_or_else(|panic| resume_unwind(panic))?;
        let failed = |error| ErrorKind::Leave { role: R::NAME, source: Box::new(error) };
        left.map(|()| value).map_err(|error| Error::from(failed(error)).into())
    }

    /// Leaves the session: waits until each peer has all that the role has sent it, and has left or
    /// gone on without it.
    ///
    /// A program that ends without it may take messages with it that are still on their way, and
    /// leaves its peers to wait for it: [`play`](Self::play) does it whatever happens.
    ///
    /// # Errors
    ///
    /// If a peer was lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves it to tasks of the runtime to bring away what was sent.
    pub async fn leave(self) -> Result<(), NetError> {
        let Self { role, ties, guard, .. } = self;
        drop(role);
        let mut result = Ok(());
        let lane = |Tie { own, lane, .. }| lane.or_else(|| guard.shared.stayed(&own));
        for lane in ties.into_iter().filter_map(lane) {
            // A task is neither cancelled nor does it panic, unless its runtime ends.
            let moved = lane.await.unwrap_or(Ok(()));
            result = result.and(moved);
        }
        result
    }
}

impl<R: Role> fmt::Debug for Joined<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined").field("role", &R::NAME).finish_non_exhaustive()
    }
}

impl<R: Role, C> fmt::Debug for Join<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, addresses, .. } = self;
        f.debug_struct("Join")
            .field("role", &R::NAME)
            .field("session", session)
            .field("peers", addresses)
            .finish_non_exhaustive()
    }
}

impl<R: Role> fmt::Debug for Service<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("role", &R::NAME).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use futures_core::Stream as _;
    use futures_sink::Sink as _;
    use rumpsteak_runtime::transport::Incoming as _;
    use serde::Deserialize;

    use super::*;
    use crate::frame::{Batch, Frame};
    use crate::transport::Memory;

    #[derive(rumpsteak_runtime::Message, Serialize, Deserialize)]
    enum Message {
        Number(Number),
    }

    #[derive(Serialize, Deserialize)]
    struct Number(u64);

    #[tokio::test]
    async fn where_nothing_is_proven_the_sender_keeps_what_nobody_receives() {
        let own = Hello {
            protocol: "P".to_owned(),
            session: "1".to_owned(),
            role: "a".to_owned(),
            peer: "b".to_owned(),
            contract: 1,
            projections: String::new(),
            system: 0,
            capacity: Room::Growable,
            codec: Postcard::NAME.to_owned(),
            labels: Vec::new(),
            types: BTreeMap::new(),
            instance: 1,
            known: None,
            moves: Vec::new(),
            received: 0,
            transports: Vec::new(),
        };
        let host = Host::new();
        let (mut end, mut lane, _) = lane::<Message, _>(&own, Some(&own), Postcard, &host.shared);
        let [mut near, mut far] = Memory::pair(1 << 16);
        let mut context = Context::from_waker(Waker::noop());
        let (mut sent, mut granted) = (0, 0);
        loop {
            assert!(lane.poll(&mut near, &mut context).is_pending());
            while let Poll::Ready(Some(frame)) = Pin::new(&mut far).poll_next(&mut context) {
                if let Some(Frame::Grant { limit, .. }) = frame.ok().and_then(Frame::read) {
                    granted = limit;
                }
            }
            if sent == granted {
                break;
            }
            // No more than the connection has room for.
            for _ in 0..(granted - sent).min(1_000) {
                let mut batch = Batch::default();
                let message = Message::Number(Number(sent));
                let write = |bytes: &mut Vec<u8>| Postcard.encode(&message, bytes);
                assert!(batch.add(1 << 16, &mut Vec::new(), write).is_ok());
                let frame = batch.take().unwrap_or_default();
                assert!(Pin::new(&mut far).start_send(frame).is_ok());
                sent += 1;
            }
            assert!(Pin::new(&mut far).poll_flush(&mut context).is_ready());
        }
        assert_eq!(sent, (WINDOW + WINDOW / 4) as u64);
        for number in 0..sent {
            let received: Poll<Result<Message, _>> = end.poll_receive(&mut context);
            let Poll::Ready(Ok(Message::Number(Number(came)))) = received else { panic!() };
            assert_eq!(came, number);
            let _ = lane.poll(&mut near, &mut context);
        }
    }
}
