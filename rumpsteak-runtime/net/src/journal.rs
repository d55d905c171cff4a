//! The journal: sessions that NATS JetStream stores.
//!
//! Each session is a stream, which has one subject for each role, for its [log](Log). The process
//! that plays a role adds an entry only after its own last one, so two processes never play one
//! role. It then tells its peers, which read the entry; they also look from time to time. Nothing
//! else is at the server.
//!
//! A server that was killed may have lost the last entries, or the stream. The process writes them
//! again, and reads all others again. An entry has a number, so no process takes it twice.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::context::{CreateStreamError, PublishError, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{Config, RawMessageError, RawMessageErrorKind, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Error, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::NetError;
use crate::transport::{Nats, Server};

/// The sessions that NATS JetStream stores, for an instance of a program: [`join`](Self::join) one
/// of them, or [`serve`](Self::serve) all in which others wait for a role.
///
/// A session of one replica is as safe as the disk of its server. A cluster that has three replicas
/// may lose one of its servers.
#[derive(Clone, Debug)]
pub struct Journal {
    server: Server,
    context: Context,
    pub(crate) instance: String,
    replicas: usize,
}

impl Journal {
    /// The journal at a server, for an instance of this name, as `server:4222/instance`. New
    /// sessions have so many replicas. Start a program again with the name of its instance, and it
    /// has the sessions of the process before. Fails if the server is absent, refuses the client,
    /// or has no JetStream.
    pub async fn open(nats: &Nats, place: &str, replicas: usize) -> io::Result<Self> {
        let (server, instance) = nats.server(place).await?;
        let context = jetstream::new(server.client.clone());
        // Every server with JetStream answers this, and no other one does.
        context.stream_names().next().await.transpose().map_err(|error| {
            let text = format!(
                "the server has no JetStream for this account: start it with `nats-server -js`, or \
                 ask who runs it ({error})"
            );
            io::Error::new(io::ErrorKind::Unsupported, text)
        })?;
        Ok(Self { server, context, instance, replicas })
    }

    /// The number of connections that the client has had.
    pub(crate) fn connects(&self) -> u64 {
        self.server.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// The encoded names of new sessions of the protocol.
    pub(crate) async fn calls(&self, protocol: &str) -> Result<Subscriber, NetError> {
        self.server.client.subscribe(subject("calls", [&encoded(protocol)])).await.map_err(failed)
    }

    /// The encoded names of all stored sessions of the protocol.
    pub(crate) async fn sessions(&self, protocol: &str) -> Result<Vec<String>, NetError> {
        let (mut names, mut found) = (self.context.stream_names(), Vec::new());
        let start = format!("rumpsteak-{}-", encoded(protocol));
        while let Some(name) = names.next().await {
            found.extend(name.map_err(failed)?.strip_prefix(&*start).map(str::to_owned));
        }
        // nats-server 2.9 crashes when it is asked for a message of a stream that it still makes.
        sleep(PAUSE).await;
        Ok(found)
    }
}

fn subject<const N: usize>(kind: &str, names: [&str; N]) -> String {
    format!("rumpsteak.{kind}.{}", names.join("."))
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

/// A step of a role, and how far it has come then. The last entry of a log is the record from which
/// the role comes back; the messages of all entries are what its peers read.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Entry {
    pub(crate) session: String,
    pub(crate) role: String,
    /// The instance that plays the role.
    pub(crate) instance: String,
    /// A random number of the process that plays the role.
    pub(crate) owner: u128,
    /// The fingerprint of the protocol and the messages, which all roles of a session share.
    pub(crate) program: u64,
    /// The number of this entry: 1 for the first one.
    pub(crate) step: u64,
    pub(crate) phase: Phase,
    pub(crate) value: Vec<u8>,
    /// By peer.
    pub(crate) channels: BTreeMap<String, Channel>,
}

/// How far a role has come with a peer.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Channel {
    /// The number of messages that the role has taken.
    pub(crate) received: u64,
    /// The number of messages that it has sent in earlier steps.
    pub(crate) sent: u64,
    /// The messages that it sends in this step.
    pub(crate) messages: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Phase {
    /// The instance will play the role.
    Claimed,
    /// The session is in the state of this fingerprint.
    At(u64),
    /// The session is over for this role.
    Over,
    /// The role needs nothing more.
    Left,
    /// The role has given the session up.
    GivenUp,
}

impl Entry {
    /// Becomes the next entry of the role, without messages.
    pub(crate) fn advance(&mut self) {
        self.step += 1;
        for channel in self.channels.values_mut() {
            channel.sent += channel.messages.len() as u64;
            channel.messages.clear();
        }
    }

    /// Returns true if the role does nothing more in the session.
    pub(crate) fn has_left(&self) -> bool {
        matches!(self.phase, Phase::Left | Phase::GivenUp)
    }
}

pub(crate) struct Log {
    journal: Journal,
    config: Config,
    stream: Stream<()>,
    /// The names of the protocol and the session, as parts of a subject.
    names: [String; 2],
    pub(crate) role: &'static str,
    pub(crate) owner: u128,
    pub(crate) program: u64,
    tail: Mutex<Tail>,
    /// Changes with news of a peer. The number of connections that the client has had: after a new
    /// one, the stream has to be read again.
    pub(crate) news: watch::Sender<u64>,
}

#[derive(Default)]
struct Tail {
    /// The last entry that this process has added, and the number of the message.
    written: (u64, u64),
    /// True if the server may have something else.
    is_doubtful: bool,
    /// The entries of this process, from this step on.
    kept: VecDeque<(u64, Bytes)>,
}

/// How long a server may take that is restarted, how long one try may take, and the pause before
/// the next one.
const WAITS: Duration = Duration::from_secs(30);
const TRY: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(100);

/// How often a process looks for what it was not told.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// The number of entries that are written again if the server has lost them.
const KEPT: usize = 8;

/// The bytes that the server adds to an entry, at most.
const HEADERS: usize = 512;

/// An error after which the process cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Final {
    #[error("another process plays `{0}` in this session")]
    Taken(&'static str),
    #[error("the server has lost entries that it had confirmed, and this process no longer has")]
    Lost,
    #[error("an entry of the session cannot be read: another version of `rumpsteak-net` wrote it")]
    Unreadable,
}

impl Log {
    /// The log of a role in a session. The name of the session is encoded.
    pub(crate) async fn open(
        journal: &Journal,
        [protocol, session]: [&str; 2],
        role: &'static str,
        owner: u128,
        program: u64,
    ) -> Result<Self, NetError> {
        let names = [encoded(protocol), session.to_owned()];
        let config = Config {
            name: format!("rumpsteak-{}-{session}", names[0]),
            subjects: vec![subject("sessions", [&names[0], session, "*"])],
            num_replicas: journal.replicas,
            ..Config::default()
        };
        let stream = journal.context.get_stream_no_info(&config.name).await.map_err(failed)?;
        let (tail, news) = (Mutex::default(), watch::Sender::new(journal.connects()));
        let journal = journal.clone();
        Ok(Self { journal, config, stream, names, role, owner, program, tail, news })
    }

    /// Makes the stream of the session, unless it is there.
    pub(crate) async fn create(&self) -> Result<(), CreateStreamError> {
        self.journal.context.create_stream(&self.config).await.map(drop)
    }

    fn subject(&self, role: &str) -> String {
        subject("sessions", [&self.names[0], &self.names[1], role])
    }

    fn subject_of_news(&self) -> String {
        subject("news", [&self.names[0], &self.names[1]])
    }

    /// The first entry of a role, or of any with `*`, from this message on, and its number.
    pub(crate) async fn next(&self, role: &str, from: u64) -> Result<Option<(u64, Entry)>, Error> {
        let message = self.stream.raw_message_builder().next_by_subject(self.subject(role));
        read(message.sequence(from).send().await)
    }

    /// The last entry of a role, and its number.
    pub(crate) async fn last(&self, role: &str) -> Result<Option<(u64, Entry)>, Error> {
        read(self.stream.raw_message_builder().last_by_subject(self.subject(role)).send().await)
    }

    /// Adds the first entry of this process: the next one after the last one of the role, whose
    /// message has this number. Returns it, or `None` if another process was faster.
    pub(crate) async fn begin(&self, at: u64, mut entry: Entry) -> Result<Option<Entry>, NetError> {
        entry.advance();
        entry.owner = self.owner;
        let bytes = self.bytes_of(&entry)?;
        let sequence = match self.publish(after(at), &bytes).await {
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => return Ok(None),
            sequence => sequence.map_err(failed)?,
        };
        let kept = VecDeque::from([(entry.step, bytes)]);
        *self.tail.lock().await =
            Tail { written: (entry.step, sequence), kept, is_doubtful: false };
        if entry.step == 1 {
            let (calls, name) = (subject("calls", [&self.names[0]]), self.names[1].clone());
            self.journal.server.client.publish(calls, name.into()).await.map_err(failed)?;
        }
        Ok(Some(entry))
    }

    /// Adds an entry. Ready when it is stored. If the future is dropped, it may be stored later.
    pub(crate) async fn add(&self, entry: &Entry) -> Result<(), NetError> {
        let bytes = self.bytes_of(entry)?;
        let mut tail = self.tail.lock().await;
        if tail.kept.len() == KEPT {
            tail.kept.pop_front();
        }
        tail.kept.push_back((entry.step, bytes));
        self.write(&mut tail, None).await
    }

    /// Writes what the server may have lost, and then the last entry, if the role leaves.
    async fn repair(&self, last: Option<Bytes>) -> Result<(), NetError> {
        let mut tail = self.tail.lock().await;
        tail.is_doubtful = true;
        self.write(&mut tail, last).await
    }

    fn bytes_of(&self, entry: &Entry) -> Result<Bytes, NetError> {
        let bytes = postcard::to_stdvec(entry).map_err(failed)?;
        let most = self.journal.server.client.max_payload().saturating_sub(HEADERS);
        if bytes.len() <= most {
            return Ok(bytes.into());
        }
        let why = "save more often, or raise its `max_payload`";
        Err(failed(format!(
            "the step has {} bytes, and the server takes {most}: {why}",
            bytes.len()
        )))
    }

    /// Writes the entries that the server does not have, and then the last one, if the role leaves.
    async fn write(&self, tail: &mut Tail, last: Option<Bytes>) -> Result<(), NetError> {
        let until = Instant::now() + WAITS;
        loop {
            let tried = timeout(TRY, self.try_write(tail, last.as_ref())).await;
            match tried.map_err(Error::from).flatten() {
                Err(error) if !error.is::<Final>() && Instant::now() < until => sleep(PAUSE).await,
                done => return done.map_err(failed),
            }
        }
    }

    async fn try_write(&self, tail: &mut Tail, last: Option<&Bytes>) -> Result<(), Error> {
        if std::mem::replace(&mut tail.is_doubtful, true) {
            self.create().await?;
            tail.written = match self.last(self.role).await? {
                None => (0, 0),
                Some((_, entry)) if entry.owner != self.owner => {
                    return Err(Final::Taken(self.role).into());
                }
                Some((sequence, entry)) => (entry.step, sequence),
            };
            if tail.kept.front().is_some_and(|first| first.0 > tail.written.0 + 1) {
                return Err(Final::Lost.into());
            }
        }
        let (written, mut sequence) = tail.written;
        for (step, bytes) in tail.kept.iter().filter(|(step, _)| *step > written) {
            sequence = self.publish(after(sequence), bytes).await?;
            tail.written = (*step, sequence);
        }
        tail.is_doubtful = false;
        if let Some(bytes) = last {
            self.write_last(bytes).await?;
        }
        Ok(self.journal.server.client.publish(self.subject_of_news(), Bytes::new()).await?)
    }

    /// Adds a message to the subject of the role, and returns its number.
    async fn publish(&self, message: PublishMessage, bytes: &Bytes) -> Result<u64, PublishError> {
        let message = message.payload(bytes.clone());
        let stored = self.journal.context.send_publish(self.subject(self.role), message).await?;
        Ok(stored.await?.sequence)
    }

    /// Receives the news of the session. Ready if the client fails.
    pub(crate) async fn follow(&self) {
        let news = self.journal.server.client.subscribe(self.subject_of_news());
        let Ok(mut peers) = news.await else { return };
        let mut connects = *self.news.borrow();
        while !matches!(timeout(LOOK, peers.next()).await, Ok(None)) {
            if connects != self.journal.connects() {
                connects = self.journal.connects();
                // If this fails, the next entry tries again.
                let _ = self.repair(None).await;
            }
            self.news.send_replace(connects);
        }
    }

    /// Removes the message of an entry.
    pub(crate) async fn remove(&self, number: u64) -> Result<(), Error> {
        Ok(self.stream.delete_message(number).await.map(drop)?)
    }

    /// Adds the last entry of the role. If the last entries of all other roles are there, this one
    /// removes the stream. Only one role adds its entry after all others, since an entry is refused
    /// if there is another one that it does not know.
    pub(crate) async fn leave(&self, entry: &Entry) -> Result<(), NetError> {
        self.repair(Some(self.bytes_of(entry)?)).await
    }

    async fn write_last(&self, bytes: &Bytes) -> Result<(), Error> {
        let (mut at, mut have_left) = (0, BTreeMap::new());
        while let Some((number, entry)) = self.next("*", at + 1).await? {
            at = number;
            have_left.insert(entry.role.clone(), entry.has_left());
        }
        have_left.remove(self.role);
        // Without an entry the others have left, and removed the stream.
        if at > 0 {
            self.publish(PublishMessage::build().expected_last_sequence(at), bytes).await?;
            if have_left.into_values().all(|has_left| has_left) {
                self.journal.context.delete_stream(&self.config.name).await?;
            }
        }
        Ok(())
    }
}

/// A message that follows the one of this number, as the last one of a role.
fn after(last: u64) -> PublishMessage {
    PublishMessage::build().expected_last_subject_sequence(last)
}

/// The entry of a message, and its number. `None` if the message, or the stream, is absent.
fn read(message: Result<StreamMessage, RawMessageError>) -> Result<Option<(u64, Entry)>, Error> {
    match message.map_err(|error| (error.kind(), error)) {
        Err((RawMessageErrorKind::NoMessageFound, _)) => Ok(None),
        Err((RawMessageErrorKind::JetStream(error), _))
            if error.error_code() == ErrorCode::STREAM_NOT_FOUND =>
        {
            Ok(None)
        }
        Err((_, error)) => Err(error.into()),
        Ok(message) => {
            let entry = postcard::from_bytes(&message.payload).map_err(|_| Final::Unreadable)?;
            Ok(Some((message.sequence, entry)))
        }
    }
}
