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
use crate::host::{Arrival, Shared, lock};
use crate::route::Unsaved;
use crate::wire::{Endpoint, LaneId, PackedLane};
use crate::{Codec, Host, Joins, NetError, Records};

/// A stored role between two steps of its session, with a value of the program.
///
/// The program that is killed, and started again, joins the session [again](Join::stored), and
/// continues after the last step that it [saved](Self::save). For the role and its peers, nothing
/// happened after that step: messages that it sent have not left, and its peers send again what it
/// had received. The [guide](crate::guide::stored) shows a program.
///
/// Dropping it stops the role as the death of the process would, and it can be joined again.
#[must_use = "the role stops here, until it joins again"]
pub struct Stored<R: Role, V> {
    /// The value of the program: what it has to remember. It is saved with each step.
    pub value: V,
    joined: Joined<R>,
    host: Host,
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

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> NetError {
    NetError::Store(Arc::new(io::Error::other(error)))
}

impl Host {
    /// Keeps the records of [stored](crate::Stored) roles in this store, and expects the roles that
    /// have a record: their peers wait until they have joined [again](Join::stored), and a
    /// [service](Host::serve) is told of their sessions. Call it before the host
    /// [listens](Self::listen), and once. Fails if the store cannot be read.
    pub async fn restore(&self, store: impl Records) -> Result<(), NetError> {
        for (_, bytes) in store.load().await.map_err(failed)? {
            let record: Record = postcard::from_bytes(&bytes).map_err(failed)?;
            lock(&self.shared.records).insert(record.endpoint, bytes);
        }
        self.shared.store.set(Arc::new(store)).map_err(|_| failed("the host has a store"))
    }
}

impl<R: Joins + Leaves<()>, C: Codec> Join<R, C> {
    /// Joins the session as a role that is stored: in its first state `S` with this value, or where
    /// its record says. The record is made before any peer is called, so the role is the same for
    /// its peers from then on. The peers have to join at other hosts.
    ///
    /// Fails as [`connect`](Self::connect) does; if the host has no [store](Host::restore), or it
    /// cannot be written; if the record is of another version of the program; or if the role plays
    /// on demand, or has such a peer, or a family. A role that has not joined has no record. If the
    /// future is dropped, the role can join again.
    pub async fn stored<S, V>(mut self, value: V) -> Result<Stored<R, V>, NetError>
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
        let found = lock(&host.shared.records).get(&endpoint).cloned();
        let mut record = match found {
            Some(bytes) => postcard::from_bytes(&bytes).map_err(failed)?,
            None => {
                let lane = |_| token().map(|own| LaneId { own, ..LaneId::default() });
                let lanes = (0..peers).map(lane).collect::<Result<_, _>>()?;
                let value = postcard::to_stdvec(&value).map_err(failed)?;
                Record { endpoint, lanes, state: Some(S::FINGERPRINT), value, routes: Vec::new() }
            }
        };
        let value = postcard::from_bytes(&record.value);
        let is_fit = record.routes.is_empty() || fits::<R, C>(&record.routes)?;
        let Some(value) = value.ok().filter(|_| is_fit && record.lanes.len() == peers) else {
            return Err(NetError::OtherSession { role: R::NAME });
        };
        // Peers refuse the process that played the role before, if it is still there.
        let number = token()?;
        record.lanes.iter_mut().for_each(|lane| lane.moved(number));
        record.routes.iter_mut().for_each(|route| route.own.lane.moved(number));
        write(&host, &record).await?;
        let unsaved = Unsaved::default();
        let joined = if record.routes.is_empty() {
            self.stored = Some((record.lanes.clone(), Arc::clone(&unsaved)));
            let connected = connect(self).await;
            if connected.is_err() {
                // Nothing was sent, and the role has not joined.
                remove(&host, &record).await?;
            }
            connected?
        } else {
            let is_over = record.state.is_none();
            rejoin::<R, C>(&host, self.codec, record.routes.clone(), Some((&unsaved, is_over)))?
        };
        let mut stored = Stored { value, joined, host, unsaved, record, is_taken: false };
        // Peers that are called again are at the same hosts as before.
        stored.write().await?;
        Ok(stored)
    }
}

/// The name of a record. A peer cannot choose it, unlike the name of a session.
fn name_of(record: &Record) -> String {
    format!("{:032x}", record.lanes.first().map_or(0, |lane| lane.own))
}

async fn write(host: &Host, record: &Record) -> Result<(), NetError> {
    let bytes = postcard::to_stdvec(record).map_err(failed)?;
    let store = host.shared.store.get().ok_or_else(|| failed("the host has no store"))?;
    // A call of the peer waits for the role from now on.
    lock(&host.shared.records).insert(record.endpoint.clone(), bytes.clone());
    store.put(&name_of(record), bytes).await.map_err(failed)
}

async fn remove(host: &Host, record: &Record) -> Result<(), NetError> {
    let Shared { store, records, .. } = &*host.shared;
    if let Some(store) = store.get() {
        store.remove(&name_of(record)).await.map_err(failed)?;
    }
    lock(records).remove(&record.endpoint);
    Ok(())
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

    /// Gives the session up: removes the record, or fails. The peers lose the role.
    pub async fn abandon(self) -> Result<(), NetError> {
        remove(&self.host, &self.record).await
    }

    /// Writes the record, with what all lanes have sent and received.
    async fn write(&mut self) -> Result<(), NetError> {
        let (shared, is_over) = (&self.host.shared, self.is_over());
        let mut before = std::mem::take(&mut self.record.routes).into_iter();
        for route in &mut self.joined.routes {
            let (reply, snapshot) = oneshot::channel();
            shared.notify(&route.own, Arrival::Record(is_over, reply));
            let (now, before) = (snapshot.await.ok().transpose()?, before.next());
            // A lane that has ended is as it was recorded, unless it has failed.
            if now.is_none()
                && let Some(lane) = route.lane.take()
            {
                lane.await.unwrap_or(Ok(()))?;
            }
            self.record.routes.extend(now.or(before));
        }
        self.record.value = postcard::to_stdvec(&self.value).map_err(failed)?;
        write(&self.host, &self.record).await?;
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
