//! The log of a role: its entries in the stream of a session.
//!
//! A stream has one subject for each role of the session. The process that plays a role adds an
//! entry only after its own last one, so two processes never play one role. A peer that adds an
//! entry says so to the others ([`follow`](Log::follow)), which then read it; they also look from
//! time to time. Nothing at the server outlives the stream.
//!
//! A server that was killed may have lost the last entries, or the stream. The process writes them
//! again, and reads all others again. An entry has a number, so nobody takes it twice.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use async_nats::Error;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{CreateStreamError, PublishError, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{Config, RawMessageError, RawMessageErrorKind, Stream};
use bytes::Bytes;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, timeout};

use super::{CALLS, Entry, Journal, NEWS, Phase, SESSIONS, encoded, failed, stream_of};
use crate::NetError;

pub(crate) struct Log {
    journal: Journal,
    config: Config,
    stream: Stream<()>,
    /// The names of the protocol and the session, as parts of a subject.
    names: [String; 2],
    pub(crate) role: &'static str,
    pub(crate) owner: u128,
    tail: Mutex<Tail>,
    /// Changes with news of a peer. Counts the connections.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct Tail {
    /// The last entry that this process has added, and the number of the message.
    written: (u64, u64),
    /// True if the server may have something else.
    is_doubtful: bool,
    /// The entries of this process, from this step on.
    kept: VecDeque<(u64, Bytes)>,
    bytes: usize,
}

/// How long an entry waits for a server that is restarted, how long one try may take, and the pause
/// before the next one.
const WAITS: Duration = Duration::from_secs(30);
const TRY: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(100);

/// How often a process looks for what it was not told.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// The size of entries that are written again if the server has lost them.
const KEPT: usize = 4 << 20;

/// The bytes that the server adds to an entry, at most.
const HEADERS: usize = 512;

/// An error after which the process cannot go on.
#[derive(Debug, thiserror::Error)]
enum Final {
    #[error("another process plays `{0}` in this session")]
    Taken(&'static str),
    #[error("the server has lost entries that it had confirmed, and this process no longer has")]
    Lost,
}

impl Log {
    /// The log of a role in a session. The name of the session is encoded.
    pub(crate) async fn open(
        journal: &Journal,
        [protocol, session]: [&str; 2],
        role: &'static str,
        owner: u128,
    ) -> Result<Self, NetError> {
        let names = [encoded(protocol), session.to_owned()];
        let config = Config {
            name: stream_of(protocol, session),
            subjects: vec![format!("{SESSIONS}{}.{session}.*", names[0])],
            num_replicas: journal.0.replicas,
            ..Config::default()
        };
        let context = &journal.0.context;
        let stream = context.get_stream_no_info(&config.name).await.map_err(failed)?;
        let (tail, (news, _)) = (Mutex::default(), watch::channel(0));
        Ok(Self { journal: journal.clone(), config, stream, names, role, owner, tail, news })
    }

    /// Makes the stream of the session, unless it is there.
    pub(crate) async fn create(&self) -> Result<(), CreateStreamError> {
        self.journal.0.context.create_stream(&self.config).await.map(drop)
    }

    fn subject(&self, role: &str) -> String {
        format!("{SESSIONS}{}.{}.{role}", self.names[0], self.names[1])
    }

    /// The first entry of a role, or of any with `*`, from this message on, and its number.
    pub(crate) async fn next(
        &self,
        role: &str,
        from: u64,
    ) -> Result<Option<(u64, Entry)>, NetError> {
        let message = self.stream.raw_message_builder().next_by_subject(self.subject(role));
        read(message.sequence(from).send().await).map_err(failed)
    }

    /// The last entry of a role, and its number.
    pub(crate) async fn last(&self, role: &str) -> Result<Option<(u64, Entry)>, NetError> {
        let message = self.stream.raw_message_builder().last_by_subject(self.subject(role));
        read(message.send().await).map_err(failed)
    }

    /// Adds the first entry of a process, after the last one of the role, whose number is given.
    /// Returns false if another process was faster.
    pub(crate) async fn begin(&self, last: u64, entry: &Entry) -> Result<bool, NetError> {
        let bytes = self.bytes_of(entry)?;
        let sequence = match self.publish(last, &bytes).await {
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => return Ok(false),
            sequence => sequence.map_err(failed)?,
        };
        let mut tail = self.tail.lock().await;
        tail.written = (entry.step, sequence);
        tail.keep(entry.step, bytes);
        if entry.step == 1 {
            let calls = format!("{CALLS}{}", self.names[0]);
            let call = self.journal.0.server.client.publish(calls, self.names[1].clone().into());
            call.await.map_err(failed)?;
        }
        Ok(true)
    }

    /// Adds an entry. Ready when it is stored. If the future is dropped, it may be stored later.
    pub(crate) async fn add(&self, entry: &Entry) -> Result<(), NetError> {
        let bytes = self.bytes_of(entry)?;
        let mut tail = self.tail.lock().await;
        tail.keep(entry.step, bytes);
        self.write(&mut tail).await
    }

    fn bytes_of(&self, entry: &Entry) -> Result<Bytes, NetError> {
        let bytes = postcard::to_stdvec(entry).map_err(failed)?;
        let most = self.journal.0.server.client.max_payload().saturating_sub(HEADERS);
        if bytes.len() > most {
            let text = format!(
                "the step has {} bytes, and the server takes {most}: save more often, or raise its \
                 `max_payload`",
                bytes.len()
            );
            return Err(failed(text));
        }
        Ok(bytes.into())
    }

    /// Writes the entries that the server does not have.
    async fn write(&self, tail: &mut Tail) -> Result<(), NetError> {
        let until = Instant::now() + WAITS;
        loop {
            let error: Error = match timeout(TRY, self.try_write(tail)).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error,
                Err(error) => error.into(),
            };
            tail.is_doubtful = true;
            if error.is::<Final>() || Instant::now() > until {
                return Err(failed(error));
            }
            sleep(PAUSE).await;
        }
    }

    async fn try_write(&self, tail: &mut Tail) -> Result<(), Error> {
        if tail.is_doubtful {
            self.create().await?;
            let message =
                self.stream.raw_message_builder().last_by_subject(self.subject(self.role));
            tail.written = match read(message.send().await)? {
                None => (0, 0),
                Some((_, entry)) if entry.owner != self.owner => {
                    return Err(Final::Taken(self.role).into());
                }
                Some((sequence, entry)) => (entry.step, sequence),
            };
            if tail.kept.front().is_some_and(|first| first.0 > tail.written.0 + 1) {
                return Err(Final::Lost.into());
            }
            tail.is_doubtful = false;
        }
        let (written, mut sequence) = tail.written;
        for (step, bytes) in tail.kept.iter().filter(|(step, _)| *step > written) {
            sequence = self.publish(sequence, bytes).await?;
            tail.written = (*step, sequence);
        }
        let news = format!("{NEWS}{}.{}", self.names[0], self.names[1]);
        Ok(self.journal.0.server.client.publish(news, Bytes::new()).await?)
    }

    /// Adds a message to the subject of the role, after the one of this number. Returns its number.
    async fn publish(&self, last: u64, bytes: &Bytes) -> Result<u64, PublishError> {
        let message = PublishMessage::build().payload(bytes.clone());
        let message = message.expected_last_subject_sequence(last);
        let stored = self.journal.0.context.send_publish(self.subject(self.role), message).await?;
        Ok(stored.await?.sequence)
    }

    /// Changes when there is news, and has another number after a new connection: then the stream
    /// has to be read again.
    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Receives the news of the session.
    pub(crate) async fn follow(&self) -> Result<(), NetError> {
        let client = &self.journal.0.server.client;
        let news = format!("{NEWS}{}.{}", self.names[0], self.names[1]);
        let (mut peers, mut connected) =
            (client.subscribe(news).await.map_err(failed)?, self.journal.connected());
        loop {
            tokio::select! {
                told = next(&mut peers) => {
                    told.ok_or_else(|| failed("the client is closed"))?;
                    self.news.send_modify(|_| {});
                }
                changed = connected.changed() => {
                    changed.map_err(failed)?;
                    let mut tail = self.tail.lock().await;
                    tail.is_doubtful = true;
                    // If this fails, the next entry tries again.
                    let _ = self.write(&mut tail).await;
                    self.news.send_modify(|connections| *connections += 1);
                }
                () = sleep(LOOK) => self.news.send_modify(|_| {}),
            }
        }
    }

    /// Removes the entries of the role but for the last ones.
    pub(crate) async fn keep(&self, last: u64) -> Result<(), NetError> {
        let purge = self.stream.purge().filter(self.subject(self.role)).keep(last.max(1));
        purge.await.map(drop).map_err(failed)
    }

    /// Removes the stream if the role is the last one that leaves the session. Others have left
    /// before, and do not remove it.
    pub(crate) async fn close(&self, peers: impl Iterator<Item = &str>) -> Result<(), NetError> {
        let own = self.last(self.role).await?;
        for peer in peers {
            let has_left = match (&own, self.last(peer).await?) {
                (Some((own, _)), Some((at, entry))) => entry.has_left() && at < *own,
                // The peer never came.
                (Some((_, own)), None) => own.phase == Phase::GivenUp,
                (None, _) => false,
            };
            if !has_left {
                return Ok(());
            }
        }
        self.journal.0.context.delete_stream(&self.config.name).await.map(drop).map_err(failed)
    }
}

impl Tail {
    fn keep(&mut self, step: u64, bytes: Bytes) {
        self.bytes += bytes.len();
        self.kept.push_back((step, bytes));
        while let Some((step, bytes)) = self.kept.front()
            && self.bytes > KEPT
            && *step <= self.written.0
        {
            self.bytes -= bytes.len();
            self.kept.pop_front();
        }
    }
}

/// The entry of a message, and its number. `None` if there is no message.
fn read(message: Result<StreamMessage, RawMessageError>) -> Result<Option<(u64, Entry)>, Error> {
    match message {
        Err(error) if is_absent(&error.kind()) => Ok(None),
        message => {
            let message = message?;
            Ok(Some((message.sequence, postcard::from_bytes(&message.payload)?)))
        }
    }
}

/// Returns true if there is no such message, or no stream.
fn is_absent(error: &RawMessageErrorKind) -> bool {
    match error {
        RawMessageErrorKind::NoMessageFound => true,
        RawMessageErrorKind::JetStream(error) => error.error_code() == ErrorCode::STREAM_NOT_FOUND,
        _ => false,
    }
}

/// Waits for the next item of a stream.
pub(crate) async fn next<S: futures_core::Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}
