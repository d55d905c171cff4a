//! The journal: sessions that NATS JetStream stores, one stream for each. A stream has a
//! [log](Log) for each role of its session.

mod entry;
mod log;

use std::io;
use std::sync::Arc;

use async_nats::jetstream::{self, Context};
use async_nats::{Error, Subscriber};

pub(crate) use self::entry::{Channel, Entry, Phase};
pub(crate) use self::log::{LOOK, Log, next};
use crate::NetError;
use crate::transport::{Nats, Server};

/// The sessions that NATS JetStream stores, for an instance of a program: [`join`](Self::join) one
/// of them, or [`serve`](Self::serve) all in which others wait for a role.
///
/// With one replica, a session is as safe as the disk of its server. A server that is killed may
/// lose what it has confirmed a moment before, because nats-server writes to its disk in the
/// background: then the processes, as long as they live, write it again. With three replicas, a
/// cluster may lose one of its servers.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Place>);

#[derive(Debug)]
struct Place {
    server: Server,
    context: Context,
    instance: String,
    replicas: usize,
}

impl Journal {
    /// The journal at a server, for an instance of this name, as `server:4222/instance`. New
    /// sessions have so many replicas. Start a program again with the name of its instance, and it
    /// has the sessions of the process before. Fails if the server is absent, refuses the client,
    /// or has no JetStream.
    pub async fn open(nats: &Nats, place: &str, replicas: usize) -> io::Result<Self> {
        let (server, instance) = nats.server_at(place).await?;
        let context = jetstream::new(server.client.clone());
        // Every server with JetStream answers this, and no other one does.
        next(&mut context.stream_names()).await.transpose().map_err(|error| {
            let text = format!(
                "the server has no JetStream for this account: start it with `nats-server -js`, or \
                 ask who runs it ({error})"
            );
            io::Error::new(io::ErrorKind::Unsupported, text)
        })?;
        Ok(Self(Arc::new(Place { server, context, instance, replicas })))
    }

    pub(crate) fn instance(&self) -> &str {
        &self.0.instance
    }

    /// Ready when the client has a connection again.
    pub(crate) fn connected(&self) -> tokio::sync::watch::Receiver<()> {
        let mut connected = self.0.server.connected.clone();
        connected.mark_unchanged();
        connected
    }

    /// The calls of roles that join a new session of the protocol. Each has the name of a session
    /// as part of a subject.
    pub(crate) async fn calls(&self, protocol: &str) -> Result<Subscriber, NetError> {
        let subject = format!("{CALLS}{}", encoded(protocol));
        self.0.server.client.subscribe(subject).await.map_err(failed)
    }

    /// The names of all stored sessions of the protocol, as parts of a subject.
    pub(crate) async fn sessions(&self, protocol: &str) -> Result<Vec<String>, NetError> {
        let (mut names, mut found) = (self.0.context.stream_names(), Vec::new());
        let start = stream_of(protocol, "");
        while let Some(name) = next(&mut names).await {
            found.extend(name.map_err(failed)?.strip_prefix(&*start).map(str::to_owned));
        }
        Ok(found)
    }
}

/// The starts of the subjects of sessions, of calls for peers, and of news about a session.
const SESSIONS: &str = "rumpsteak.sessions.";
const CALLS: &str = "rumpsteak.calls.";
const NEWS: &str = "rumpsteak.news.";

fn stream_of(protocol: &str, session: &str) -> String {
    format!("rumpsteak-{}-{session}", encoded(protocol))
}

/// A name as part of a subject.
pub(crate) fn encoded(name: &str) -> String {
    let part = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => char::from(byte).to_string(),
        _ => format!("-{byte:02X}"),
    };
    name.bytes().map(part).collect()
}

pub(crate) fn failed(error: impl Into<Error>) -> NetError {
    NetError::Store(Arc::new(io::Error::other(error)))
}
