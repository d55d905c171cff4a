//! Records in a bucket of NATS JetStream.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::context::{DeleteStreamErrorKind, GetStreamErrorKind};
use async_nats::jetstream::{self, Context, ErrorCode, kv, stream};
use async_nats::{Client, Error};
use bytes::Bytes;
use futures_core::Stream as _;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use super::Records;
use crate::transport::{IoFuture, Nats};

/// Records in a bucket of the key-value store of NATS JetStream, which exists as long as it has a
/// record. So a role can come back on another machine. A bucket belongs to one process at a time.
///
/// With one replica, a record is as safe as the disk of its server, and a server that is killed may
/// lose records that it has confirmed a moment before: nats-server writes to its disk in the
/// background. Then this process, as long as it lives, writes them again. With three replicas, a
/// cluster may lose one of its servers.
#[derive(Debug)]
pub struct KeyValue {
    bucket: Arc<Bucket>,
    keeps: AbortHandle,
}

#[derive(Debug)]
struct Bucket {
    place: String,
    client: Client,
    context: Context,
    /// The name of the bucket, and its stream.
    name: String,
    config: stream::Config,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// All records, as the bucket has to have them.
    records: BTreeMap<String, Bytes>,
    /// The bucket, if it exists.
    store: Option<kv::Store>,
}

/// How long a record waits for a server that is restarted, how long one try may take, and the pause
/// before the next one.
const WAITS: Duration = Duration::from_secs(30);
const TRY: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(100);

impl KeyValue {
    /// The records of this name, as `server:4222/name`, with so many replicas. The name has
    /// letters, digits, `-` and `_`. Fails if the server is not there, refuses the client, or has
    /// no JetStream.
    pub async fn open(nats: &Nats, place: &str, replicas: usize) -> io::Result<Self> {
        let (server, name) = nats.server_at(place).await?;
        let client = server.client.clone();
        let context = jetstream::new(client.clone());
        let bucket = format!("rumpsteak-{name}");
        // As of a bucket; `create_key_value` needs a newer server than 2.9.
        let config = stream::Config {
            name: format!("KV_{bucket}"),
            subjects: vec![format!("$KV.{bucket}.>")],
            max_messages_per_subject: 1,
            discard: stream::DiscardPolicy::New,
            allow_rollup: true,
            allow_direct: true,
            deny_delete: true,
            num_replicas: replicas,
            ..Default::default()
        };
        let (place, state) = (format!("nats://{place}"), Mutex::default());
        let bucket = Arc::new(Bucket { place, client, context, name: bucket, config, state });
        bucket.load().await?;
        let (kept, mut connected) = (Arc::downgrade(&bucket), server.connected.clone());
        connected.mark_unchanged();
        let keeps = tokio::spawn(async move {
            while connected.changed().await.is_ok()
                && let Some(bucket) = kept.upgrade()
            {
                let mut state = bucket.state.lock().await;
                // If this fails, the next record tries again.
                let _ = bucket.write(&mut state, None).await;
            }
        });
        Ok(Self { bucket, keeps: keeps.abort_handle() })
    }
}

impl Drop for KeyValue {
    fn drop(&mut self) {
        self.keeps.abort();
    }
}

impl Bucket {
    /// Reads what the last process has left.
    async fn load(&self) -> io::Result<()> {
        let State { records, store } = &mut *self.state.lock().await;
        if let Err(error) = self.context.get_stream(&self.config.name).await {
            return match error.kind() {
                GetStreamErrorKind::JetStream(it) if is_missing(&it) => Ok(()),
                _ => {
                    let text = format!(
                        "the server has no JetStream for this account: start it with \
                         `nats-server -js`, or ask who runs it ({error})"
                    );
                    Err(io::Error::new(io::ErrorKind::Unsupported, text))
                }
            };
        }
        let read = async {
            let bucket = self.context.get_key_value(&self.name).await?;
            for name in keys(&bucket).await? {
                if let Some(record) = bucket.get(name.clone()).await? {
                    records.insert(name, record);
                }
            }
            *store = Some(bucket);
            Ok::<_, Error>(())
        };
        read.await.map_err(io::Error::other)
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
            if Instant::now() > until {
                return Err(io::Error::other(failed));
            }
            only = None;
            sleep(PAUSE).await;
        }
    }

    async fn try_write(&self, state: &mut State, only: Option<&str>) -> Result<(), Error> {
        let State { records, store } = state;
        if records.is_empty() {
            *store = None;
            let deleted = self.context.delete_stream(&self.config.name).await;
            return match deleted.map_err(|error| (error.kind(), error)) {
                Err((DeleteStreamErrorKind::JetStream(it), _)) if is_missing(&it) => Ok(()),
                Err((_, error)) => Err(error.into()),
                Ok(_) => Ok(()),
            };
        }
        let bucket = match store {
            Some(bucket) if only.is_some() => bucket,
            _ => {
                self.context.create_stream(self.config.clone()).await?;
                store.insert(self.context.get_key_value(&self.name).await?)
            }
        };
        for (name, record) in records.iter().filter(|(it, _)| only.is_none_or(|only| only == *it)) {
            bucket.put(name, record.clone()).await?;
        }
        let others = match only {
            Some(name) => vec![name.to_owned()],
            None => keys(bucket).await?,
        };
        for name in others.iter().filter(|name| !records.contains_key(*name)) {
            bucket.purge(name).await?;
        }
        Ok(())
    }
}

fn is_missing(error: &jetstream::Error) -> bool {
    error.error_code() == ErrorCode::STREAM_NOT_FOUND
}

async fn keys(bucket: &kv::Store) -> Result<Vec<String>, Error> {
    let (mut keys, mut found) = (bucket.keys().await?, Vec::new());
    while let Some(key) = poll_fn(|context| Pin::new(&mut keys).poll_next(context)).await {
        found.push(key?);
    }
    Ok(found)
}

impl Records for KeyValue {
    fn place(&self) -> String {
        self.bucket.place.clone()
    }

    fn get<'a>(&'a self, name: &'a str) -> IoFuture<'a, Option<Vec<u8>>> {
        Box::pin(async {
            let state = self.bucket.state.lock().await;
            Ok(state.records.get(name).map(|record| record.to_vec()))
        })
    }

    fn put<'a>(&'a self, name: &'a str, record: Vec<u8>) -> IoFuture<'a, ()> {
        Box::pin(async move {
            let (bytes, most) = (record.len(), self.bucket.client.max_payload());
            if bytes > most {
                let text = format!(
                    "the record has {bytes} bytes, and the server takes {most}: save more often, or \
                     raise its `max_payload`"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
            let mut state = self.bucket.state.lock().await;
            state.records.insert(name.to_owned(), record.into());
            self.bucket.write(&mut state, Some(name)).await
        })
    }

    fn remove<'a>(&'a self, name: &'a str) -> IoFuture<'a, ()> {
        Box::pin(async {
            let mut state = self.bucket.state.lock().await;
            state.records.remove(name);
            self.bucket.write(&mut state, Some(name)).await
        })
    }

    fn names(&self) -> IoFuture<'_, Vec<String>> {
        Box::pin(async { Ok(self.bucket.state.lock().await.records.keys().cloned().collect()) })
    }
}
