//! Joining a session.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use rumpsteak_runtime::Role;
use rumpsteak_runtime::private::Watch;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::joined::RouteTask;
use super::wiring::{hellos, lane, local, plays_on_demand, queues, role_of, wire};
use crate::address::addresses_of;
use crate::host::Arrival;
use crate::route::{Guard, Remote};
use crate::wire::Hello;
use crate::{Address, Codec, Directory, Host, Joined, Joins, NetError, Postcard};

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
    /// A function that knows that the role can join, so that other methods need not ask for it.
    connect: fn(Self) -> BoxFuture<'static, Result<Joined<R>, NetError>>,
}

/// A service: it plays one role for as many sessions as others begin. Made by [`Host::serve`].
pub struct Service<R: Role> {
    host: Host,
    sessions: UnboundedReceiver<String>,
    join: fn(&Host, String) -> Join<R>,
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
    /// The next session in which others wait for this role. Never `None` while the host is there.
    pub async fn next(&mut self) -> Option<Join<R>> {
        let session = self.sessions.recv().await?;
        Some((self.join)(&self.host, session))
    }
}

impl<R: Role, C> Join<R, C> {
    /// The name of the session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Calls a peer at the first of these addresses where it answers. Peers without an address call
    /// this role, or join at the same [`Host`].
    pub fn peer(mut self, role: &str, addresses: impl IntoIterator<Item: AsRef<str>>) -> Self {
        match addresses_of(addresses) {
            Ok(addresses) => self.addresses.push((role.to_owned(), addresses)),
            Err(error) => self.wrong = Some(error.into()),
        }
        self
    }

    /// Gives the addresses of all peers for which [`peer`](Self::peer) gives none. A directory may
    /// have other roles, too.
    pub fn peers(self, directory: &Directory) -> Self {
        Self { directory: directory.clone(), ..self }
    }

    /// Accepts only these transports for peers on other hosts: their schemes, best first. A peer
    /// may [listen](Host::listen) at several addresses, and tells them to every caller. A peer that
    /// calls this role over another transport gets an address of these, or is refused, and has said
    /// no more than its greeting. By default, the role accepts any transport.
    pub fn over<T: Into<String>>(self, transports: impl IntoIterator<Item = T>) -> Self {
        Self { transports: transports.into_iter().map(Into::into).collect(), ..self }
    }

    /// Uses another codec than [`Postcard`]. All roles of a session use the same.
    pub fn codec<D: Codec>(self, codec: D) -> Join<R, D>
    where
        R: Joins,
    {
        let Self { host, session, addresses, directory, transports, wrong, .. } = self;
        let connect = |join| Box::pin(connect(join)) as BoxFuture<'static, _>;
        Join { host, session, codec, addresses, directory, transports, wrong, connect }
    }

    /// Waits until all peers of the role have joined the session. No role waits for a role that
    /// plays on demand, which itself waits for the first of its peers. If the future is dropped,
    /// peers find that this role is lost.
    ///
    /// # Errors
    ///
    /// If an address is invalid, or belongs to no peer; if the role has joined the session here
    /// already; if a peer does not come in time, or does not fit; if a peer plays on another host
    /// and neither end can call the other.
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
    let endpoint = (R::PROTOCOL.to_owned(), join.session.clone(), R::NAME.to_owned());
    let waits = |own: &Hello| !plays_on_demand::<R>(&own.route);
    let wires = |own: &Hello, far: &Hello| waits(own).then(|| wire::<R::Message>(own, far));
    let arrivals = shared.register(endpoint.clone(), &hellos, wires)?;
    let guard = Guard::new(shared, endpoint, R::PLAYED.0.on_demand);
    let until = Instant::now() + shared.limits.join;
    let mut calls = JoinSet::new();
    let mut remotes = Vec::new();
    for (own, arrivals) in hellos.into_iter().zip(arrivals) {
        let (shared, guard) = (Arc::clone(shared), Some(Arc::clone(&guard)));
        let addresses = join.addresses_of(&own.route.peer);
        let remote = Remote { shared, own, addresses, arrivals, guard };
        if waits(&remote.own) {
            remote.call(&mut calls, until);
        }
        remotes.push(remote);
    }
    // A call that is in vain says so itself.
    let until = until + Duration::from_secs(1);
    let (mut ends, mut routes) = (Vec::new(), Vec::new());
    let (meets, mut met) = mpsc::unbounded_channel();
    for mut remote in remotes {
        let own = remote.own.clone();
        let (end, status, lane) = if !waits(&own) {
            let (end, lane, status) = lane(&own, None, join.codec.clone(), shared);
            (end, status, Some(tokio::spawn(remote.meet_on_demand(lane, meets.clone()))))
        } else {
            match remote.arrival(until).await {
                Arrival::Failed(error) => return Err(error),
                // A role leaves when it has joined.
                Arrival::Leave(_) => return Err(remote.absent()),
                Arrival::Local(end) => {
                    let (end, status) = local(end, &own.route.peer)?;
                    (end, status, None)
                }
                Arrival::Remote(connection, theirs, call) => {
                    let codec = join.codec.clone();
                    let (end, lane, status) = lane(&own, Some(&theirs), codec, shared);
                    let task = remote.meet(lane, connection, *theirs, call);
                    (end, status, Some(tokio::spawn(task)))
                }
            }
        };
        ends.push(end);
        routes.push(RouteTask { own, status, lane });
    }
    drop(meets);
    if R::PLAYED.0.on_demand.contains(&R::NAME)
        && let Some(RouteTask { own, .. }) = routes.first()
        && timeout_at(until, met.recv()).await.ok().flatten().is_none()
    {
        return Err(shared.absent(own, &join.addresses_of(&own.route.peer), None));
    }
    let joined = Joined { role: role_of(ends), routes, guard, codec: Box::new(join.codec) };
    Ok(match Watch::from_environment() {
        Some(watch) => joined.watched(&watch),
        None => joined,
    })
}

impl<R: Role, C> Join<R, C> {
    fn addresses_of(&self, peer: &str) -> Vec<Address> {
        let of_peer = self.addresses.iter().filter(|(role, _)| role == peer);
        let told: Vec<Address> = of_peer.flat_map(|(_, at)| at.clone()).collect();
        if told.is_empty() { self.directory.of(peer) } else { told }
    }
}

impl<R: Role, C> fmt::Debug for Join<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, addresses, .. } = self;
        let shown = (R::NAME, session, addresses);
        f.debug_struct("Join").field("joins", &shown).finish_non_exhaustive()
    }
}

impl<R: Role> fmt::Debug for Service<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("role", &R::NAME).finish_non_exhaustive()
    }
}
