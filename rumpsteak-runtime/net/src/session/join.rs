//! Joining a session, playing a role in it, and leaving it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use rumpsteak_runtime::channel::QueueReceiver;
use rumpsteak_runtime::private::{Played, Watch, connection};
use rumpsteak_runtime::transport::Labelled;
use rumpsteak_runtime::watch::Report;
use rumpsteak_runtime::{Error, ErrorKind, Role};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::wiring::{Facts, Families, lane, local, member, plays_on_demand, role_of, wire};
use crate::address::addresses_of;
use crate::host::{Arrival, Guard, LaneTask, Shared};
use crate::platform::time::{Instant, timeout_at};
use crate::route::{
    FarEnd, Incoming, Lane, LocalQueue, Outgoing, Remote, SharedStatus, begin, reader, run,
    unwritten,
};
use crate::wire::Hello;
use crate::{Address, Codec, Directory, Host, Joins, NetError, Peer, Portable, Postcard};

/// A role that is about to join a session. Made by [`Host::join`].
#[must_use = "nothing happens before `connect`"]
pub struct Join<R: Role, C = Postcard> {
    host: Host,
    plan: Plan,
    codec: C,
    /// Made where `R: Joins` is known, so that other methods need not require it.
    connect: fn(Self) -> BoxFuture<'static, Result<Joined<R>, NetError>>,
}

#[derive(Default)]
struct Plan {
    session: Arc<str>,
    addresses: BTreeMap<String, Vec<Address>>,
    directory: Directory,
    transports: Vec<String>,
    families: Families,
    /// The index of the role among the members of its family.
    member: Option<u32>,
    wrong: Option<NetError>,
}

/// A service, which plays one role in every session that others begin. Made by [`Host::serve`].
pub struct Service<R: Role> {
    host: Host,
    sessions: UnboundedReceiver<Arc<str>>,
    join: fn(&Host, Arc<str>) -> Join<R>,
}

impl Host {
    /// Joins a session as the role `R`. All roles of the session use the same name.
    ///
    /// ```no_run
    /// # async fn f<K: rumpsteak_net::Joins>(host: rumpsteak_net::Host) -> Result<(), rumpsteak_net::NetError> {
    /// let k = host.join::<K>("job 42").peer("s", ["tcp://10.0.0.7:4000"]).connect().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<R: Joins>(&self, session: impl Into<String>) -> Join<R> {
        let plan = Plan { session: session.into().into(), ..Plan::default() };
        Join { host: self.clone(), plan, codec: Postcard, connect: |join| Box::pin(connect(join)) }
    }

    /// Plays the role `R` in each session that others begin or have begun: see [`Service::next`].
    /// A session is announced once. When it is over, its name can be used again.
    pub fn serve<R: Joins>(&self) -> Service<R> {
        let sessions = self.shared.serve(R::PROTOCOL, R::NAME);
        Service { host: self.clone(), sessions, join: |host, session| host.join(&*session) }
    }
}

impl<R: Role> Service<R> {
    /// The next session in which others wait for this role. Never `None` while the host is there.
    pub async fn next(&mut self) -> Option<Join<R>> {
        Some((self.join)(&self.host, self.sessions.recv().await?))
    }
}

impl<R: Role, C> Join<R, C> {
    /// The name of the session.
    pub fn session(&self) -> &str {
        &self.plan.session
    }

    /// Calls a peer at these addresses, until it answers at one. Peers without an address call this
    /// role, or join at the same [`Host`].
    pub fn peer(mut self, role: &str, addresses: impl IntoIterator<Item: AsRef<str>>) -> Self {
        match addresses_of(addresses) {
            Ok(addresses) => {
                self.plan.addresses.entry(role.to_owned()).or_default().extend(addresses);
            }
            Err(error) => self.plan.wrong = Some(error.into()),
        }
        self
    }

    /// As [`peer`](Self::peer), for the peer of this type.
    pub fn peer_role<P: Role<Message = R::Message>>(
        self,
        addresses: impl IntoIterator<Item: AsRef<str>>,
    ) -> Self {
        self.peer(P::NAME, addresses)
    }

    /// Sets the addresses of the peers without an address of their own. The directory may contain
    /// other roles.
    pub fn peers(mut self, directory: &Directory) -> Self {
        self.plan.directory = directory.clone();
        self
    }

    /// Accepts only these transports for peers on other hosts: their schemes, best first. If a peer
    /// [listens](Host::listen) at several addresses, the role uses the best. If a peer calls over
    /// another transport, it is redirected or refused. By default, the role accepts any transport.
    pub fn over<T: Into<String>>(mut self, transports: impl IntoIterator<Item = T>) -> Self {
        self.plan.transports = transports.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the number of members of a family, `role worker[N]`: for a member, and for its peers.
    /// The ends compare these numbers. The member of the index 2 is the peer `worker[2]`.
    pub fn members(mut self, family: &str, number: usize) -> Self {
        // A larger number is too large for a process, and is refused by all others.
        self.plan.families.insert(family.to_owned(), u32::try_from(number).unwrap_or(u32::MAX));
        self
    }

    /// Joins as the member of this index, counted from 0. The role is a family.
    pub fn member(mut self, index: usize) -> Self {
        self.plan.member = Some(u32::try_from(index).unwrap_or(u32::MAX));
        self
    }

    /// Uses another codec than [`Postcard`]. All roles of a session use the same codec.
    pub fn codec<D: Codec>(self, codec: D) -> Join<R, D>
    where
        R: Joins,
    {
        Join { host: self.host, plan: self.plan, codec, connect: |join| Box::pin(connect(join)) }
    }

    /// Calls the peers as long as it is polled, until all of them have joined the session. No role
    /// waits for a role that plays on demand, which itself waits for its first peer. If the future
    /// is dropped, the peers lose this role. Fails if an address is invalid, or belongs to no peer;
    /// if the role has already joined here; if a peer does not join in time, or is incompatible; or
    /// if neither end can call the other.
    pub fn connect(self) -> impl Future<Output = Result<Joined<R>, NetError>> + Send + 'static {
        (self.connect)(self)
    }
}

async fn connect<R: Joins, C: Codec>(join: Join<R, C>) -> Result<Joined<R>, NetError> {
    let (plan, shared, facts) = (&join.plan, &join.host.shared, Facts::of::<R, C>());
    let on_demand = facts.played.on_demand;
    let waits = |own: &Hello| !plays_on_demand(on_demand, &own.route);
    let wires = |own: &Hello, far: &Hello| waits(own).then(|| wire::<R::Message>(own, far));
    let (remotes, guard) = plan.register(&facts, shared, &wires)?;
    let until = Instant::now() + shared.limits.join;
    let called = remotes.iter().filter(|remote| waits(&remote.own));
    let mut calls = called.filter_map(|remote| remote.call(until)).collect();
    // A failed call reports its reason a moment earlier.
    let until = until + Duration::from_secs(1);
    let (mut ends, mut routes) = (Vec::new(), Vec::new());
    let (meets, met) = on_demand.contains(&R::NAME).then(mpsc::unbounded_channel).unzip();
    for remote in remotes {
        let mut remote = Box::new(remote);
        let (own, codec) = (remote.own.clone(), join.codec.clone());
        let (end, status, lane) = if !waits(&own) {
            let (end, lane, status) = lane(&own, None, codec, shared, true);
            (end, status, Some(begin(Box::pin(remote.meet_on_demand(lane, meets.clone())))))
        } else {
            match remote.arrival(until, &mut calls).await {
                Arrival::Failed(error) => return Err(error),
                Arrival::Leave(_) => return Err(remote.absent()),
                Arrival::Local(end) => {
                    let (end, status) = local(end, &own.route.peer)?;
                    (end, status, None)
                }
                Arrival::Remote(connection, theirs, call) => {
                    let (end, lane, status) = lane(&own, Some(&theirs), codec, shared, false);
                    let task = begin(Box::pin(remote.meet(lane, connection, theirs, call)));
                    (end, status, Some(task))
                }
            }
        };
        ends.push(end);
        routes.push(RouteTask { own, status, lane });
    }
    drop(meets);
    if let Some(mut met) = met
        && let Some(RouteTask { own, .. }) = routes.first()
        && timeout_at(until, met.recv()).await.ok().flatten().is_none()
    {
        return Err(shared.absent(own, &plan.addresses_of(&own.route.peer), None));
    }
    let (role, codec) = (role_of(ends, &plan.families), Box::new(join.codec.clone()));
    let joined = Joined { role, routes, guard, codec };
    Ok(match Watch::from_environment() {
        Some(watch) => joined.watched(&watch),
        None => joined,
    })
}

impl Plan {
    fn addresses_of(&self, peer: &str) -> Vec<Address> {
        let given = self.addresses.get(peer).filter(|addresses| !addresses.is_empty());
        given.cloned().unwrap_or_else(|| self.directory.of(peer))
    }

    /// Registers the role. Returns its peers, on any host.
    fn register(
        &self,
        facts: &Facts,
        shared: &Arc<Shared>,
        wire: &dyn Fn(&Hello, &Hello) -> Option<[Arrival; 2]>,
    ) -> Result<(Vec<Remote>, Arc<Guard>), NetError> {
        if let Some(error) = &self.wrong {
            return Err(error.clone());
        }
        let &Played { protocol, role, on_demand, is_family, .. } = facts.played;
        if facts.played.projections.is_empty() {
            return Err(NetError::NoProtocol { role });
        }
        let number = self.families.get(role).copied().unwrap_or_default();
        let name = match self.member {
            None if !is_family => role.into(),
            Some(index) if is_family && index < number => member(role, index),
            _ => return Err(NetError::Family { role, family: role }),
        };
        let queues = facts.queues(&self.families)?;
        let peers = || queues.iter().map(|queue| &queue.peer);
        let is_known = |peer: &str| peers().any(|known| **known == *peer);
        if let Some(peer) = self.addresses.keys().find(|peer| !is_known(peer)) {
            let peers = peers().map(ToString::to_string).collect();
            return Err(NetError::NoPeer { role, peer: peer.clone(), peers });
        }
        let endpoint = (self.session.clone(), protocol.into(), name);
        let hellos = facts.hellos(&endpoint, &queues, &self.transports)?;
        let (guard, arrivals) = shared.register(endpoint, on_demand, &hellos, wire)?;
        let remotes = hellos.into_iter().zip(arrivals).map(|(own, arrivals)| {
            let (shared, guard) = (Arc::clone(shared), Some(Arc::clone(&guard)));
            let addresses = self.addresses_of(&own.route.peer);
            Remote { shared, own, addresses, arrivals, guard }
        });
        Ok((remotes.collect(), guard))
    }
}

/// A role that takes part in a session.
pub struct Joined<R: Role> {
    /// The role, whose routes lead to its peers.
    pub role: R,
    /// In the order of the routes.
    pub(super) routes: Vec<RouteTask>,
    pub(super) guard: Arc<Guard>,
    pub(super) codec: Box<dyn MessageCodec<R::Message>>,
}

pub(super) struct RouteTask {
    pub(super) own: Arc<Hello>,
    pub(super) status: SharedStatus,
    /// `None` if the peer is on this host.
    pub(super) lane: Option<LaneTask>,
}

pub(super) trait MessageCodec<M>: Send + Sync {
    fn bytes_of(&self, peer: &str, messages: Vec<M>) -> Result<Vec<Vec<u8>>, NetError>;

    /// Begins a lane from a role that stays on this host to its peer that moves away. The queues
    /// led to the peer, whose greeting is `theirs`.
    fn lane(
        &self,
        queues: (LocalQueue<M>, QueueReceiver<M>),
        remote: Box<Remote>,
        theirs: Box<Hello>,
        status: SharedStatus,
    ) -> LaneTask;
}

impl<M: Labelled + Portable, C: Codec> MessageCodec<M> for C {
    fn bytes_of(&self, peer: &str, messages: Vec<M>) -> Result<Vec<Vec<u8>>, NetError> {
        let bytes = |message: &M| {
            let mut bytes = Vec::new();
            let written = self.encode(message, &mut bytes);
            written.map(|()| bytes).map_err(|error| unwritten(peer, message.label(), error))
        };
        messages.iter().map(bytes).collect()
    }

    fn lane(
        &self,
        (incoming, outgoing): (LocalQueue<M>, QueueReceiver<M>),
        remote: Box<Remote>,
        theirs: Box<Hello>,
        status: SharedStatus,
    ) -> LaneTask {
        let LocalQueue { queue, sent, taken, .. } = incoming;
        let incoming = Incoming::Messages(queue, reader(&remote.own.route.peer, self.clone()));
        // The role first takes what the peer has sent here.
        let (outgoing, taken) = (Outgoing::Messages(outgoing), (taken, sent));
        let far = FarEnd { incoming, outgoing, status, taken };
        let (ends, limits) = ([&*remote.own, &theirs], &remote.shared.limits);
        begin(Box::pin(run(Lane::new(ends, self.clone(), far, limits), remote, theirs, None)))
    }
}

impl<R: Role> Joined<R> {
    /// Runs a process of the role, and then [leaves](Self::leave), even if the process fails or
    /// panics.
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
    /// Play the roles of one program with `join!`, not with `try_join!`: see
    /// [failure](crate::guide::failure). Fails with the error of the process, or with
    /// [`ErrorKind::Leave`] if the role cannot leave.
    ///
    /// # Panics
    ///
    /// If the process panics, after the role has left.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future in the middle of a session poisons the role and wakes its peers. To wait
    /// until the peers know, run the process on [`role`](Self::role) and leave.
    pub async fn play<T, E: From<Error>>(
        mut self,
        process: impl AsyncFnOnce(&mut R) -> Result<T, E>,
    ) -> Result<T, E> {
        let ended = {
            let mut process = std::pin::pin!(process(&mut self.role));
            // The future is not polled again after a panic, and the role is poisoned.
            let poll = |context: &mut Context<'_>| {
                let polled = catch_unwind(AssertUnwindSafe(|| process.as_mut().poll(context)));
                polled.map_or_else(|panic| Poll::Ready(Err(panic)), |polled| polled.map(Ok))
            };
            poll_fn(poll).await
        };
        let left = self.leave().await;
        let value = ended.unwrap_or_else(|panic| resume_unwind(panic))?;
        let failed = |error| ErrorKind::Leave { role: R::NAME, source: Box::new(error) };
        left.map(|()| value).map_err(|error| Error::from(failed(error)).into())
    }

    /// The peer of this name: its transport, its address, and the progress of its messages. `None`
    /// if the role has no such peer.
    pub fn peer(&self, role: &str) -> Option<Peer> {
        let route = self.routes.iter().find(|it| *it.own.route.peer == *role)?;
        Some(Peer(Arc::clone(&route.status)))
    }

    /// Watches the role: if no action of it completes for this long and it waits, prints to stderr
    /// for which message of which peer, where the peer is, and for how long its connection has been
    /// silent: see [`watch`](rumpsteak_runtime::watch).
    #[must_use]
    pub fn watch(self, limit: Duration) -> Self {
        self.watched(&Watch::printing(limit))
    }

    /// Watches the role as [`watch`](Self::watch) does, and passes the reports to `tell`.
    #[must_use]
    pub fn watch_with(
        self,
        limit: Duration,
        tell: impl Fn(&Report) + Send + Sync + 'static,
    ) -> Self {
        self.watched(&Watch::new(limit, tell))
    }

    fn watched(self, watch: &Watch) -> Self {
        let session = self.routes.first().map_or("", |route| &route.own.route.session);
        watch.of_session(session).add(&self.role);
        for RouteTask { own, status, .. } in self.routes.iter().filter(|it| it.lane.is_some()) {
            let status = Arc::clone(status);
            connection(&self.role, &own.route.peer, Box::new(move || status.describe()));
        }
        self
    }

    /// Leaves the session: waits until each peer has all messages of the role, and has left or
    /// continued without it. If the future is dropped, tasks of the runtime deliver the messages.
    ///
    /// A program that ends without leaving may lose messages, and its peers wait for it.
    /// [`play`](Self::play) always leaves. Fails if a peer was lost.
    pub async fn leave(self) -> Result<(), NetError> {
        let Self { role, routes, guard, .. } = self;
        drop(role);
        let mut result = Ok(());
        let lane = |RouteTask { own, lane, .. }| lane.or_else(|| guard.shared.take_lane(&own));
        for lane in routes.into_iter().filter_map(lane) {
            // This fails only if the runtime ends: the task neither panics nor is cancelled.
            result = result.and(lane.await.unwrap_or(Ok(())));
        }
        result
    }
}

impl_debug!([R: Role, C] Join<R, C>, "joins": |it| (R::NAME, it.plan.session.clone(), it.plan.addresses.clone()));
impl_debug!([R: Role] Service<R>, "role": |_| R::NAME);
impl_debug!([R: Role] Joined<R>, "role": |_| R::NAME);
