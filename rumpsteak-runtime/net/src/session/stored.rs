//! Roles that are stored, and survive their processes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rumpsteak_runtime::private::{ByMacro, Leaves, Structure};
use rumpsteak_runtime::states::{Plays, Session, State};
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
use crate::wire::{Endpoint, LaneId, PackedLane, schema};
use crate::{Codec, Host, Joins, NetError, Records};

/// A stored role between two steps of its session, with a value of the program.
///
/// The program that is killed, and started again, joins the session [again](Join::stored), and
/// continues after the last step that it [saved](Self::save). What it did after that did not happen, for the role
/// and for its peers: messages that it sent have not left, and its peers send again what it had
/// received. The [guide](crate::guide::stored) shows a program.
///
/// Dropping it stops the role as the death of the process would, and it can be joined again.
#[must_use = "the role stops here, until it joins again"]
pub struct Stored<R: Role, V> {
    /// The value of the program: what it has to remember. It is saved with each step.
    pub value: V,
    joined: Joined<R>,
    host: Host,
    store: Arc<dyn Records>,
    name: String,
    unsaved: Unsaved,
    record: Record,
    /// True from the time when a step takes the session until it is saved.
    is_taken: bool,
}

#[derive(Deserialize, Serialize)]
struct Record {
    endpoint: Endpoint,
    /// The identities of the role for its peers, by which they know it again.
    lanes: Vec<LaneId>,
    /// The fingerprint of the state of the session; `None` if it is over.
    state: Option<u64>,
    value: Vec<u8>,
    /// Empty if not all peers have come.
    routes: Vec<PackedLane>,
}

/// How often a role that has left looks if its peers have.
const LOOK: Duration = Duration::from_millis(10);

impl Host {
    /// Expects the roles that have a record in this store, so that their peers wait until they have
    /// joined [again](Join::stored). Call it before the host [listens](Self::listen). Returns the
    /// names of the sessions in which `R` has a record. Fails if the store cannot be read.
    pub async fn recorded<R: Role>(
        &self,
        store: &Arc<dyn Records>,
    ) -> Result<Vec<String>, NetError> {
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

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> NetError {
    NetError::Store(Arc::new(io::Error::other(error)))
}

async fn read(store: &Arc<dyn Records>, name: &str) -> Result<Option<Record>, NetError> {
    let bytes = store.get(name).await.map_err(failed)?;
    bytes.map(|bytes| postcard::from_bytes(&bytes)).transpose().map_err(failed)
}

async fn write(store: &Arc<dyn Records>, name: &str, record: &Record) -> Result<(), NetError> {
    let bytes = postcard::to_stdvec(record).map_err(failed)?;
    store.put(name, bytes).await.map_err(failed)
}

impl<R: Joins + Leaves<()>, C: Codec> Join<R, C> {
    /// Joins the session as a role that is stored: in its first state `S` with this value, or where
    /// its record says. The record is made before any peer is called, so the role is the same for
    /// its peers from then on. The peers have to join at other hosts.
    ///
    /// Fails as [`connect`](Self::connect) does; if the record cannot be read or written, or is of
    /// another version of the program; or if the role plays on demand, or has such a peer, or a
    /// family. If the future is dropped, the role can join again.
    pub async fn stored<S, V>(
        mut self,
        store: &Arc<dyn Records>,
        value: V,
    ) -> Result<Stored<R, V>, NetError>
    where
        S: Session<State = State<'static, R>> + Structure,
        R: Plays<S>,
        V: Serialize + DeserializeOwned,
    {
        const { assert!(<R as Plays<S>>::VERIFIED) };
        let (role, host) = (self.role()?, self.host.clone());
        let peers = queues::<R>(&self.families)?.len();
        if !self.families.is_empty() || !R::PLAYED.0.on_demand.is_empty() {
            return Err(NetError::NotStorable { role: R::NAME });
        }
        let endpoint = (R::PROTOCOL.to_owned(), self.session.clone(), role);
        let (protocol, session, role) = &endpoint;
        let bytes = [protocol, session, role].into_iter().flat_map(|it| [it.as_bytes(), &[0]]);
        let name = format!("{:016x}", schema::fingerprint(bytes.flatten().copied()));
        let mut record = match read(store, &name).await? {
            Some(record) => record,
            None => {
                let lane = |_| token().map(|own| LaneId { own, ..LaneId::default() });
                let lanes = (0..peers).map(lane).collect::<Result<_, _>>()?;
                let (endpoint, state) = (endpoint.clone(), Some(S::FINGERPRINT));
                let value = postcard::to_stdvec(&value).map_err(failed)?;
                Record { endpoint, lanes, state, value, routes: Vec::new() }
            }
        };
        let value = postcard::from_bytes(&record.value);
        let is_fit = record.routes.is_empty() || fits::<R, C>(&record.routes)?;
        let value = value.ok().filter(|_| record.endpoint == endpoint && is_fit);
        let Some(value) = value.filter(|_| record.lanes.len() == peers) else {
            return Err(NetError::OtherSession { role: R::NAME });
        };
        // Peers refuse the process that played the role before, if it is still there.
        let number = token()?;
        record.lanes.iter_mut().for_each(|lane| lane.moved(number));
        record.routes.iter_mut().for_each(|route| route.own.lane.moved(number));
        host.shared.set_recorded(&endpoint, true);
        write(store, &name, &record).await?;
        let unsaved = Unsaved::default();
        let joined = if record.routes.is_empty() {
            self.stored = Some((record.lanes.clone(), Arc::clone(&unsaved)));
            connect(self).await?
        } else {
            let is_over = record.state.is_none();
            rejoin::<R, C>(&host, self.codec, record.routes.clone(), Some((&unsaved, is_over)))?
        };
        let (store, is_taken) = (Arc::clone(store), false);
        let mut stored = Stored { value, joined, host, store, name, unsaved, record, is_taken };
        // Peers that are called again are at the same hosts as before.
        stored.write().await?;
        Ok(stored)
    }
}

impl<R: Joins + Leaves<()>, V: Serialize> Stored<R, V> {
    /// True if the session is over, and only has to be [finished](Self::finish).
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.record.state.is_none()
    }

    /// The session, if it was saved in the state `S`: for a step, which [runs](Detached::run) it,
    /// and takes the rest away by [`Detached::new`]. `None` if the session is in another state, or
    /// was not saved since the last step.
    ///
    /// A step receives any number of messages, and then sends any number. If it receives after it
    /// has sent, the error is [`NetError::Unsaved`].
    pub fn session<S>(&mut self) -> Option<Detached<S>>
    where
        S: Session<State = State<'static, R>> + Structure,
    {
        if self.is_taken || self.record.state != Some(S::FINGERPRINT) {
            return None;
        }
        self.is_taken = true;
        Some(Detached::from_role(&mut self.joined.role, ByMacro(())))
    }

    /// Saves a step: the rest of the session, which the step has returned, and the value. When the
    /// future is ready, both are in the record, and the messages of the step leave. Fails if `rest`
    /// was continued, if a message cannot be written, or if the record cannot be written. After an
    /// error, or if the future is dropped, drop the role and join again.
    pub async fn save<S>(&mut self, rest: Detached<S>) -> Result<(), NetError>
    where
        S: Session<State = State<'static, R>> + Structure,
    {
        let role = rest.into_role(ByMacro(()));
        self.joined.role = role.ok_or(NetError::NotHere { role: R::NAME })?;
        self.record.state = Some(S::FINGERPRINT);
        self.write().await?;
        self.is_taken = false;
        Ok(())
    }

    /// Finishes a session that has ended: saves this with the value, waits until the peers have all
    /// messages and have left, runs `end`, and then removes the record. If the program is killed in
    /// between, the session [is over](Self::is_over) when it joins again; to finish it then may run
    /// `end` again. Fails if no step has continued the session, if a peer is lost, or if the record
    /// cannot be written.
    pub async fn finish<T>(mut self, end: impl AsyncFnOnce(&V) -> T) -> Result<T, NetError> {
        if !self.is_over() && !self.is_taken {
            return Err(NetError::NotHere { role: R::NAME });
        }
        self.record.state = None;
        self.write().await?;
        let shared = Arc::clone(&self.host.shared);
        while !self.joined.routes.iter().all(|route| shared.is_left(&route.own)) {
            sleep(LOOK).await;
        }
        // That the peers have left is acknowledged when it is recorded.
        self.write().await?;
        let mut left = Ok(());
        for route in &mut self.joined.routes {
            if let Some(lane) = &mut route.lane {
                left = left.and(lane.await.unwrap_or(Ok(())));
            }
            route.lane = None;
        }
        left?;
        let ended = end(&self.value).await;
        self.abandon().await?;
        Ok(ended)
    }

    /// Gives the session up: removes the record. The peers lose the role. Fails if the record cannot
    /// be removed.
    pub async fn abandon(self) -> Result<(), NetError> {
        self.store.remove(&self.name).await.map_err(failed)?;
        self.host.shared.set_recorded(&self.record.endpoint, false);
        Ok(())
    }

    /// Writes the record, with what all lanes have sent and received.
    async fn write(&mut self) -> Result<(), NetError> {
        let (shared, is_over) = (&self.host.shared, self.is_over());
        let mut before = std::mem::take(&mut self.record.routes).into_iter();
        for route in &self.joined.routes {
            let (reply, snapshot) = oneshot::channel();
            shared.notify(&route.own, Arrival::Record(is_over, reply));
            // A lane that has ended is as it was recorded.
            let (now, before) = (snapshot.await.ok().transpose()?, before.next());
            self.record.routes.extend(now.or(before));
        }
        self.record.value = postcard::to_stdvec(&self.value).map_err(failed)?;
        write(&self.store, &self.name, &self.record).await?;
        self.unsaved.store(false, Ordering::Relaxed);
        for route in &self.joined.routes {
            shared.notify(&route.own, Arrival::Recorded);
        }
        Ok(())
    }
}

impl<R: Role, V> Drop for Stored<R, V> {
    /// Without a note that the role has left: it may come back.
    fn drop(&mut self) {
        for lane in self.joined.routes.iter().filter_map(|route| route.lane.as_ref()) {
            lane.abort();
        }
    }
}

debug!([R: Role, V] Stored<R, V>, "role": |it| it.record.endpoint.clone());
