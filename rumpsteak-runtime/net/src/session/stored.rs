//! Roles that are stored, and survive their processes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rumpsteak_runtime::private::{ByMacro, Leaves, Structure};
use rumpsteak_runtime::states::{Session, State};
use rumpsteak_runtime::{Detached, Role};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::join::{Join, Joined, connect};
use super::parcel::{fits, rejoin};
use super::wiring::{queues, token};
use crate::host::Arrival;
use crate::route::Unsaved;
use crate::wire::{Endpoint, PackedLane, schema};
use crate::{Codec, Host, Joins, NetError, Records};

/// A stored role between two steps of its session, in the state `S`, with a value of the program.
///
/// The program that is killed, and started again, [opens](Join::open) the session from its record,
/// and continues after the last step that it [saved](Self::save). What it did after that did not
/// happen, for the role and for its peers: messages that it sent have not left, and its peers send
/// again what it had received. The [guide](crate::guide::stored) shows a program.
///
/// A step receives any number of messages, and then sends any number. If it receives after it has
/// sent, the error is [`NetError::Unsaved`].
///
/// Dropping it stops the role as the death of the process would, and it can be opened again.
#[must_use = "the role stops here, until it is opened again"]
pub struct Stored<R: Role, S: Session<State = State<'static, R>>, V> {
    /// The session. A step [runs](Detached::run) it, and takes the rest away by [`Detached::new`].
    pub session: Detached<S>,
    /// The value that is saved together with the session: what the program has to remember.
    pub value: V,
    kept: Kept<R>,
}

/// A stored role that was opened: see [`Join::open`].
#[must_use = "the role stops here, until it is opened again"]
pub struct Opened<R: Role> {
    kept: Kept<R>,
    last: Last,
}

/// The last point that a role has saved.
#[derive(Deserialize, Serialize)]
struct Last {
    point: Point,
    value: Vec<u8>,
}

#[derive(Clone, Copy, Deserialize, Eq, PartialEq, Serialize)]
enum Point {
    Start,
    /// In the state of this fingerprint.
    At(u64),
    Over,
}

#[derive(Deserialize, Serialize)]
struct Record {
    endpoint: Endpoint,
    /// The tokens that the role shows its peers, so that they know it again.
    tokens: Vec<u128>,
    last: Last,
    /// Empty if not all peers have come.
    routes: Vec<PackedLane>,
}

/// How often a role that has left looks if its peers have.
const LOOK: Duration = Duration::from_millis(10);

/// The routes of a stored role, and its record.
struct Kept<R: Role> {
    joined: Option<Joined<R>>,
    host: Host,
    store: Arc<dyn Records>,
    name: String,
    endpoint: Endpoint,
    tokens: Vec<u128>,
    unsaved: Unsaved,
    routes: Vec<PackedLane>,
}

impl Host {
    /// Expects the roles that have a record in this store, so that their peers wait until they are
    /// [opened](Join::open). Call it before the host [listens](Self::listen). Returns the names of
    /// the sessions in which `R` has a record. Fails if the store cannot be read.
    pub async fn recorded<R: Role>(
        &self,
        store: &Arc<dyn Records>,
    ) -> Result<Vec<String>, NetError> {
        let failed = |error| failed(store, error);
        let mut sessions = Vec::new();
        for name in store.names().await.map_err(failed)? {
            let Some(record) = read(store, &name).await? else { continue };
            self.shared.set_recorded(&record.endpoint, true);
            let (protocol, session, role) = record.endpoint;
            if (&*protocol, &*role) == (R::PROTOCOL, R::NAME) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }
}

fn failed(store: &Arc<dyn Records>, error: io::Error) -> NetError {
    NetError::Store { place: store.place(), source: Arc::new(error) }
}

async fn read(store: &Arc<dyn Records>, name: &str) -> Result<Option<Record>, NetError> {
    let bytes = store.get(name).await.map_err(|error| failed(store, error))?;
    let record = bytes.map(|bytes| postcard::from_bytes(&bytes)).transpose();
    record.map_err(|error| failed(store, io::Error::new(io::ErrorKind::InvalidData, error)))
}

impl<R: Joins, C: Codec> Join<R, C> {
    /// Joins the session as a role that is stored, or continues it from its record. The record is
    /// made before any peer is called, so the role is the same for its peers from then on. The
    /// peers have to join at other hosts.
    ///
    /// Fails as [`connect`](Self::connect) does; if the record cannot be read or written, or is of
    /// another version of the program; or if the role plays on demand, or has such a peer, or a
    /// family. If the future is dropped, the role can be opened again.
    pub async fn open(mut self, store: &Arc<dyn Records>) -> Result<Opened<R>, NetError> {
        let (role, host) = (self.role()?, self.host.clone());
        let peers = queues::<R>(&self.families)?.len();
        if !self.families.is_empty() || !R::PLAYED.0.on_demand.is_empty() {
            return Err(NetError::NotStorable { role: R::NAME });
        }
        let endpoint = (R::PROTOCOL.to_owned(), self.session.clone(), role);
        let (protocol, session, role) = &endpoint;
        let bytes = [protocol, session, role].into_iter().flat_map(|it| [it.as_bytes(), &[0]]);
        let name = format!("{:016x}", schema::fingerprint(bytes.flatten().copied()));
        let last = Last { point: Point::Start, value: Vec::new() };
        let found = read(store, &name).await?;
        let is_back = found.is_some();
        let record = match found {
            Some(record) => record,
            None => {
                let tokens = (0..peers).map(|_| token()).collect::<Result<_, _>>()?;
                Record { endpoint: endpoint.clone(), tokens, last, routes: Vec::new() }
            }
        };
        let is_fit = record.routes.is_empty() || fits::<R, C>(&record.routes)?;
        if record.endpoint != endpoint || record.tokens.len() != peers || !is_fit {
            return Err(NetError::OtherSession { role: R::NAME });
        }
        let Record { tokens, last, routes, .. } = record;
        let (store, unsaved) = (Arc::clone(store), Unsaved::default());
        let mut kept = Kept { joined: None, host, store, name, endpoint, tokens, unsaved, routes };
        kept.host.shared.set_recorded(&kept.endpoint, true);
        if kept.routes.is_empty() {
            kept.put(&last).await?;
            self.stored = Some((kept.tokens.clone(), Arc::clone(&kept.unsaved), is_back));
            kept.joined = Some(connect(self).await?);
            // A role that is called again is at the same host as before.
            kept.record(&last).await?;
        } else {
            let stored = Some((&kept.unsaved, last.point == Point::Over));
            let joined = rejoin::<R, C>(&kept.host, self.codec, kept.routes.clone(), stored)?;
            kept.joined = Some(joined);
        }
        Ok(Opened { kept, last })
    }
}

impl<R: Joins + Leaves<()>> Opened<R> {
    /// True if no step was saved. Begin the session with [`role`](Self::role), and
    /// [save](Self::save) its first step.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.last.point == Point::Start
    }

    /// True if the session is over, and only has to be [finished](Self::finish).
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.last.point == Point::Over
    }

    /// True if the session was saved in the state `S`.
    #[must_use]
    pub fn is_at<S: Structure>(&self) -> bool {
        self.last.point == Point::At(S::FINGERPRINT)
    }

    /// The role, to begin a new session.
    pub fn role(&mut self) -> Option<&mut R> {
        let is_new = self.is_new();
        self.kept.joined.as_mut().filter(|_| is_new).map(|joined| &mut joined.role)
    }

    /// Saves the first step of a new session. Fails as [`Stored::save`].
    pub async fn save<S, V: Serialize>(
        self,
        session: Detached<S>,
        value: V,
    ) -> Result<Stored<R, S, V>, NetError>
    where
        S: Session<State = State<'static, R>> + Structure,
    {
        let has_begun = self.kept.joined.as_ref().is_some_and(|it| it.role.is_poisoned());
        if !self.is_new() || !has_begun {
            return Err(NetError::NotHere { role: R::NAME });
        }
        self.kept.save(session, value).await
    }

    /// Continues the session in the state `S` in which it was saved, with the value of that step.
    /// Fails if the session [is in another state](Self::is_at), or the value is of another type.
    pub fn resume<S, V: DeserializeOwned>(mut self) -> Result<Stored<R, S, V>, NetError>
    where
        S: Session<State = State<'static, R>> + Structure,
    {
        let other = || NetError::OtherSession { role: R::NAME };
        let value = postcard::from_bytes(&self.last.value).map_err(|_| other())?;
        let is_at = self.is_at::<S>();
        let joined = self.kept.joined.as_mut().filter(|_| is_at).ok_or_else(other)?;
        let session = Detached::from_role(&mut joined.role, ByMacro(()));
        Ok(Stored { session, value, kept: self.kept })
    }

    /// Finishes a session that is over, as [`Stored::finish`]. Fails if the session is not over, or
    /// the value is of another type.
    pub async fn finish<V: Serialize + DeserializeOwned, T>(
        self,
        end: impl AsyncFnOnce(V) -> T,
    ) -> Result<T, NetError> {
        let other = |_| NetError::OtherSession { role: R::NAME };
        let value = postcard::from_bytes(&self.last.value).map_err(other)?;
        if !self.is_over() {
            return Err(NetError::NotHere { role: R::NAME });
        }
        self.kept.finish(value, end).await
    }

    /// Gives the session up: removes the record. The peers lose the role.
    pub async fn abandon(mut self) -> Result<(), NetError> {
        self.kept.remove().await
    }
}

impl<R: Joins + Leaves<()>, S, V> Stored<R, S, V>
where
    S: Session<State = State<'static, R>> + Structure,
    V: Serialize,
{
    /// Saves a step: the rest of the session, which the last step has returned, and the value.
    /// When the future is ready, both are in the record, and the messages of the step leave. Fails
    /// if `session` is not the rest of this one, if a message cannot be written, or if the record
    /// cannot be written. After an error, or if the future is dropped, the role can be opened
    /// again.
    pub async fn save<T>(self, session: Detached<T>) -> Result<Stored<R, T, V>, NetError>
    where
        T: Session<State = State<'static, R>> + Structure,
    {
        let Self { session: last, value, kept } = self;
        match last.into_role(ByMacro(())) {
            None => kept.save(session, value).await,
            Some(_) => Err(NetError::NotHere { role: R::NAME }),
        }
    }

    /// Finishes a session that has ended: saves this with the value, waits until the peers have all
    /// messages and have left, runs `end`, and then removes the record. If the program is killed in
    /// between, [`Opened::finish`] does the rest, and may run `end` again. Fails if the session has
    /// not been continued, if a peer is lost, or if the record cannot be written.
    pub async fn finish<T>(self, end: impl AsyncFnOnce(V) -> T) -> Result<T, NetError> {
        let Self { session, value, mut kept } = self;
        if session.into_role(ByMacro(())).is_some() {
            return Err(NetError::NotHere { role: R::NAME });
        }
        let last = Last { point: Point::Over, value: kept.bytes_of(&value)? };
        kept.record(&last).await?;
        kept.finish(value, end).await
    }

    /// Gives the session up: removes the record. The peers lose the role.
    pub async fn abandon(mut self) -> Result<(), NetError> {
        self.kept.remove().await
    }
}

impl<R: Joins + Leaves<()>> Kept<R> {
    async fn save<S, V: Serialize>(
        mut self,
        session: Detached<S>,
        value: V,
    ) -> Result<Stored<R, S, V>, NetError>
    where
        S: Session<State = State<'static, R>> + Structure,
    {
        let last = Last { point: Point::At(S::FINGERPRINT), value: self.bytes_of(&value)? };
        self.record(&last).await?;
        Ok(Stored { session, value, kept: self })
    }

    async fn finish<V: Serialize, T>(
        mut self,
        value: V,
        end: impl AsyncFnOnce(V) -> T,
    ) -> Result<T, NetError> {
        let shared = Arc::clone(&self.host.shared);
        let routes = self.joined.iter().flat_map(|joined| &joined.routes);
        let owns: Vec<_> = routes.map(|route| route.own.clone()).collect();
        while !owns.iter().all(|own| shared.is_left(own)) {
            sleep(LOOK).await;
        }
        // That the peers have left is acknowledged when it is recorded.
        let last = Last { point: Point::Over, value: self.bytes_of(&value)? };
        self.record(&last).await?;
        if let Some(joined) = self.joined.take() {
            joined.leave().await?;
        }
        let ended = end(value).await;
        self.remove().await?;
        Ok(ended)
    }
}

impl<R: Role> Kept<R> {
    fn bytes_of(&self, value: &impl Serialize) -> Result<Vec<u8>, NetError> {
        let bytes = postcard::to_stdvec(value);
        bytes.map_err(|error| failed(&self.store, io::Error::other(error)))
    }

    /// Writes the record, with what all lanes have sent and received.
    async fn record(&mut self, last: &Last) -> Result<(), NetError> {
        let routes = self.joined.iter().flat_map(|joined| &joined.routes);
        let owns: Vec<_> = routes.map(|route| route.own.clone()).collect();
        let (shared, is_over) = (Arc::clone(&self.host.shared), last.point == Point::Over);
        let mut packed = std::mem::take(&mut self.routes).into_iter();
        for own in &owns {
            let (reply, snapshot) = oneshot::channel();
            let asked = shared.notify(own, Arrival::Record(is_over, reply));
            let before = packed.next();
            // A lane that has ended is as it was recorded.
            let now = if asked { snapshot.await.ok().transpose()? } else { None };
            self.routes.extend(now.or(before));
        }
        self.put(last).await?;
        self.unsaved.store(false, Ordering::Relaxed);
        for own in &owns {
            shared.notify(own, Arrival::Recorded);
        }
        Ok(())
    }

    async fn put(&mut self, last: &Last) -> Result<(), NetError> {
        #[derive(Serialize)]
        struct Written<'a>(&'a Endpoint, &'a [u128], &'a Last, &'a [PackedLane]);
        let bytes = self.bytes_of(&Written(&self.endpoint, &self.tokens, last, &self.routes))?;
        self.store.put(&self.name, bytes).await.map_err(|error| failed(&self.store, error))
    }

    async fn remove(&mut self) -> Result<(), NetError> {
        let removed = self.store.remove(&self.name).await;
        removed.map_err(|error| failed(&self.store, error))?;
        self.host.shared.set_recorded(&self.endpoint, false);
        Ok(())
    }
}

impl<R: Role> Drop for Kept<R> {
    /// Without a note that the role has left: it may come back.
    fn drop(&mut self) {
        for lane in self.joined.iter().flat_map(|joined| &joined.routes) {
            lane.lane.iter().for_each(|task| task.abort());
        }
    }
}

debug!([R: Role] Opened<R>, "role": |it| it.kept.endpoint.clone());
debug!([R: Role, S: Session<State = State<'static, R>>, V] Stored<R, S, V>, "role": |it| it.kept.endpoint.clone());
