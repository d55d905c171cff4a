//! Records in a bucket of NATS JetStream.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, RawMessageErrorKind};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, Error};
use bytes::Bytes;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use super::records::Records;
use crate::transport::{IoFuture, Nats, random};

/// Records in a bucket of the key-value store of NATS JetStream, which exists as long as it has a
/// record. So a role can come back on another machine.
///
/// The process that opens a bucket last has it, and other processes fail to write to it. A bucket
/// writes one record after another.
///
/// With one replica, a record is as safe as the disk of its server, and a server that is killed may
/// lose records that it has confirmed a moment before: nats-server writes to its disk in the
/// background. Then this process, as long as it lives, writes them again. With three replicas, a
/// cluster may lose one of its servers.
#[derive(Clone, Debug)]
pub struct KeyValue(Arc<Bucket>);

#[derive(Debug)]
struct Bucket {
    client: Client,
    context: Context,
    config: Config,
    /// The start of the subjects of its keys.
    keys: String,
    /// The random names of this process, and of the last one that had the bucket.
    owners: [Bytes; 2],
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// All records, as the bucket has to have them.
    records: BTreeMap<String, Bytes>,
    /// The number of the last message in the bucket, if it is known. The server accepts the next
    /// message only after that one, so no other process can have written in between.
    last: Option<u64>,
}

/// The key of the name of the process that has the bucket.
const OWNER: &str = "owner";

/// How long a record waits for a server that is restarted, how long one try may take, and the pause
/// before the next one.
const WAITS: Duration = Duration::from_secs(30);
const TRY: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(100);

/// The bytes that the server adds to a record, at most.
const HEADERS: usize = 512;

#[derive(Debug, thiserror::Error)]
#[error("another process has opened these records")]
struct Taken;

impl KeyValue {
    /// The records of this name, as `server:4222/name`, with so many replicas. The name has
    /// letters, digits, `-` and `_`. Fails if the server is not there, refuses the client, or has
    /// no JetStream.
    pub async fn open(nats: &Nats, place: &str, replicas: usize) -> io::Result<Self> {
        let (server, name) = nats.server_at(place).await?;
        let keys = format!("$KV.rumpsteak-{name}.");
        // As of a bucket, so that `nats kv` shows it.
        let config = Config {
            name: format!("KV_rumpsteak-{name}"),
            subjects: vec![format!("{keys}>")],
            max_messages_per_subject: 1,
            num_replicas: replicas,
            ..Config::default()
        };
        let (client, context) = (server.client.clone(), jetstream::new(server.client.clone()));
        let owners = [Bytes::from(format!("{:032x}", random()?)), Bytes::new()];
        let mut bucket = Bucket { client, context, config, keys, owners, state: Mutex::default() };
        bucket.take().await.map_err(|error| {
            let text = format!(
                "the server has no JetStream for this account: start it with `nats-server -js`, or \
                 ask who runs it ({error})"
            );
            io::Error::new(io::ErrorKind::Unsupported, text)
        })?;
        let bucket = Arc::new(bucket);
        let (kept, mut connected) = (Arc::downgrade(&bucket), server.connected.clone());
        connected.mark_unchanged();
        tokio::spawn(async move {
            while connected.changed().await.is_ok()
                && let Some(bucket) = kept.upgrade()
            {
                // If this fails, the next record tries again.
                let _ = bucket.write(&mut *bucket.state.lock().await, None).await;
            }
        });
        Ok(Self(bucket))
    }
}

impl Bucket {
    /// Takes the bucket over from the last process, with its records.
    async fn take(&mut self) -> Result<(), Error> {
        let mut state = State::default();
        loop {
            state.records = self.read(&mut state).await?;
            self.owners[1] = state.records.remove(OWNER).unwrap_or_default();
            match self.publish(&mut state, OWNER, &self.owners[0]).await {
                // The last process still writes.
                Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {}
                taken => break taken?,
            }
        }
        if state.records.is_empty() {
            self.write(&mut state, None).await?;
        }
        *self.state.get_mut() = state;
        Ok(())
    }

    /// Makes the bucket, unless it is there. Returns all that it has, by key.
    async fn read(&self, state: &mut State) -> Result<BTreeMap<String, Bytes>, Error> {
        let (mut found, mut next) = (BTreeMap::new(), 1);
        let stream = self.context.create_stream(self.config.clone()).await?;
        loop {
            let of_all = stream.raw_message_builder().next_by_subject(&*self.config.subjects[0]);
            match of_all.sequence(next).send().await {
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => break,
                message => {
                    let message = message?;
                    next = message.sequence + 1;
                    let key = message.subject.strip_prefix(&*self.keys).unwrap_or_default();
                    found.insert(key.to_owned(), message.payload);
                }
            }
        }
        state.last = Some(stream.cached_info().state.last_sequence);
        Ok(found)
    }

    /// Writes a record of this name, or removes it. If that fails, makes the whole bucket as it has
    /// to be: a server that was killed may have lost any part of it.
    async fn write(&self, state: &mut State, mut only: Option<&str>) -> io::Result<()> {
        let until = Instant::now() + WAITS;
        loop {
            let failed: Error = match timeout(TRY, self.try_write(state, only)).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error,
                Err(error) => error.into(),
            };
            if failed.is::<Taken>() || Instant::now() > until {
                return Err(io::Error::other(failed));
            }
            only = None;
            sleep(PAUSE).await;
        }
    }

    async fn try_write(&self, state: &mut State, only: Option<&str>) -> Result<(), Error> {
        let only = only.filter(|_| state.last.is_some());
        let mut names: Vec<_> = only.map(str::to_owned).into_iter().collect();
        if only.is_none() {
            let mut found = self.read(state).await?;
            if found.remove(OWNER).is_some_and(|owner| !self.owners.contains(&owner)) {
                state.last = None;
                return Err(Taken.into());
            }
            names = found.into_keys().chain(state.records.keys().cloned()).collect();
        }
        if only.is_none() || state.records.is_empty() {
            self.publish(state, OWNER, &self.owners[0]).await?;
        }
        let stream = self.context.get_stream_no_info(&self.config.name).await?;
        for name in names {
            match state.records.get(&name).cloned() {
                Some(record) => self.publish(state, &name, &record).await?,
                None => {
                    // Not a record that another process has written since.
                    let purge = stream.purge().filter(format!("{}{name}", self.keys));
                    purge.sequence(state.last.unwrap_or_default() + 1).await?;
                }
            }
        }
        if state.records.is_empty() {
            state.last = None;
            self.context.delete_stream(&self.config.name).await?;
        }
        Ok(())
    }

    /// Writes a key, as the next message of the bucket. After an error, the bucket is read again.
    async fn publish(
        &self,
        state: &mut State,
        key: &str,
        value: &Bytes,
    ) -> Result<(), PublishError> {
        let last = state.last.take().unwrap_or_default();
        let message = PublishMessage::build().payload(value.clone()).expected_last_sequence(last);
        let written = self.context.send_publish(format!("{}{key}", self.keys), message).await?;
        state.last = Some(written.await?.sequence);
        Ok(())
    }
}

impl Records for KeyValue {
    fn load(&self) -> IoFuture<'_, Vec<(String, Vec<u8>)>> {
        Box::pin(async {
            let State { records, .. } = &*self.0.state.lock().await;
            Ok(records.iter().map(|(name, record)| (name.clone(), record.to_vec())).collect())
        })
    }

    fn put<'a>(&'a self, name: &'a str, record: Vec<u8>) -> IoFuture<'a, ()> {
        Box::pin(async move {
            let (bytes, most) = (record.len(), self.0.client.max_payload());
            if bytes + HEADERS > most {
                let text = format!(
                    "the record has {bytes} bytes, and the server takes {most}: save more often, or \
                     raise its `max_payload`"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
            let mut state = self.0.state.lock().await;
            state.records.insert(name.to_owned(), record.into());
            self.0.write(&mut state, Some(name)).await
        })
    }

    fn remove<'a>(&'a self, name: &'a str) -> IoFuture<'a, ()> {
        Box::pin(async {
            let mut state = self.0.state.lock().await;
            state.records.remove(name);
            self.0.write(&mut state, Some(name)).await
        })
    }
}
