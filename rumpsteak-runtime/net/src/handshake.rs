//! What two ends say to each other before any message: who they are, and what they were verified
//! as.
//!
//! ```text
//! caller                                            host
//!   ── magic, Hello ─────────────────────────────────▶   is there such a role, in such a session?
//!   ◀───── Welcome: its own Hello, or Refused, or Moved ──  do both follow one protocol?
//! ```
//!
//! The host compares, so both ends come to one answer; the caller compares again, because it need
//! not believe the host. A connection that is made again begins likewise, with what each end has
//! received.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;

use bytes::Bytes;
use futures_core::Stream as _;
use futures_sink::Sink as _;
use rumpsteak_runtime::channel::Capacity;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::refusal::{LONGEST_NAME, Refusal};
use crate::transport::{Connection, GREETING};

/// The first bytes of a connection: what this is, and in which version.
const MAGIC: &[u8; 10] = b"rumpsteak\x04";

/// One end, as it introduces itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Hello {
    pub(crate) protocol: String,
    pub(crate) session: String,
    /// The role of this end.
    pub(crate) role: String,
    /// The role at the other end.
    pub(crate) peer: String,
    /// The fingerprint of the protocol; and of all sessions, where they are safe with one another
    /// only.
    pub(crate) contract: u64,
    /// The projections of the protocol onto all of its roles, as text; empty from an end that does
    /// not talk to other versions.
    pub(crate) projections: String,
    /// The system for which the capacities of the queues were proven; 0 for none.
    pub(crate) system: u64,
    /// How much room the queue from this end needs, in that system.
    pub(crate) capacity: Room,
    /// The name of the codec.
    pub(crate) codec: String,
    /// The labels of the message type, in order.
    pub(crate) labels: Vec<String>,
    /// Of what the types in messages are made: see [`schema`](crate::schema).
    pub(crate) types: BTreeMap<String, u64>,
    /// The token of this end of the lane, which only the two ends know: who has both tokens may
    /// resume.
    pub(crate) instance: u128,
    /// The token of the other end, for a connection that is made again.
    pub(crate) known: Option<u128>,
    /// The last hosts to which the session went in its middle, by numbers that they drew.
    pub(crate) moves: Vec<u128>,
    /// How many messages it has received.
    pub(crate) received: u64,
    /// The schemes of the transports over which it would talk, best first; empty if it goes on
    /// with this one.
    pub(crate) transports: Vec<String>,
}

/// A [`Capacity`], as it travels.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Room {
    AtMost(u32),
    Growable,
    Waits(u32),
}

impl From<Capacity> for Room {
    fn from(capacity: Capacity) -> Self {
        match capacity {
            Capacity::AtMost(most) => u32::try_from(most).map_or(Self::Growable, Self::AtMost),
            Capacity::Waits(room) => u32::try_from(room).map_or(Self::Growable, Self::Waits),
            _ => Self::Growable,
        }
    }
}

/// What a host answers.
#[expect(clippy::large_enum_variant, reason = "one for each connection, and seldom moved")]
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Answer {
    Welcome(Hello),
    Refused(Refusal),
    /// The role goes on elsewhere: at one of these addresses.
    Moved(Vec<String>),
    /// It can be called at these addresses, and goes on nowhere else, or may do better there.
    Offers(Vec<String>),
}

impl Hello {
    /// Whether two ends fit together.
    ///
    /// Whether two versions of a protocol do is found out on a thread for such things.
    pub(crate) async fn fits(&self, other: &Self) -> Result<(), Refusal> {
        if self.codec != other.codec {
            return Err(Refusal::Codec([self.codec.clone(), other.codec.clone()]));
        }
        let are_same = self.labels == other.labels;
        // A message type that is a struct has no number. No other label has a blank in it.
        let is_struct = |hello: &&Self| hello.labels.iter().any(|it| it.starts_with("struct "));
        if !are_same && [self, other].iter().any(is_struct) {
            return Err(Refusal::Labels([self.labels.join(", "), other.labels.join(", ")]));
        }
        let differs = |(name, own): &(&String, &u64)| {
            other.types.get(*name).is_some_and(|theirs| theirs != *own)
        };
        if let Some((name, _)) = self.types.iter().find(differs) {
            return Err(Refusal::Type(name.clone()));
        }
        if self.contract == other.contract {
            return Ok(());
        }
        let projections = [self, other].map(|hello| hello.projections.clone());
        let compared = tokio::task::spawn_blocking(move || versions_fit(&projections));
        let compared = compared.await.unwrap_or_else(|error| Err(error.to_string()));
        compared.map_err(Refusal::Protocol)
    }

    /// True if no name is longer than it may be.
    pub(crate) fn has_short_names(&self) -> bool {
        let Self { protocol, session, role, peer, codec, transports, .. } = self;
        let names = [protocol, session, role, peer, codec];
        names.into_iter().chain(transports).all(|name| name.len() <= LONGEST_NAME)
    }

    /// Whether this end means that one, or whoever plays the role.
    pub(crate) fn knows(&self, other: &Self) -> bool {
        self.known.is_none_or(|known| known == other.instance)
    }

    /// Whether this end has got its session from where it was when it greeted like this: a parcel
    /// that was copied has not, once another copy has come.
    pub(crate) fn follows(&self, before: &Self) -> bool {
        before.moves.last().is_none_or(|last| self.moves.contains(last))
    }

    /// Goes on at another host.
    pub(crate) fn moved(mut self, number: u128) -> Self {
        self.moves.drain(..self.moves.len().saturating_sub(MOVES));
        self.moves.push(number);
        self
    }

    /// By which numbers the other end's labels are known here, where these are others.
    pub(crate) fn numbers(&self, other: &Self) -> Option<Numbers> {
        let number = |label: &String| {
            (0..).zip(&self.labels).find(|(_, own)| *own == label).map(|(at, _)| at)
        };
        let are_same = self.labels == other.labels;
        (!are_same).then(|| other.labels.iter().map(number).collect())
    }
}

/// A number that no one else can know: 128 bits of the operating system's generator, if it works.
pub(crate) fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}

/// How many moves a peer may have missed.
const MOVES: usize = 64;

/// The number that each label of the other end has here, in its order; `None` for one that is
/// unknown here.
pub(crate) type Numbers = Vec<Option<u32>>;

/// Whether two versions of a protocol fit together.
fn versions_fit([own, theirs]: &[String; 2]) -> Result<(), String> {
    if own.is_empty() || theirs.is_empty() {
        return Err("what differs is told, and may be safe, only if both ends have the feature `compat` of rumpsteak-net, and \
                    neither has sessions that are proven with those of its own build only"
            .to_owned());
    }
    #[cfg(feature = "compat")]
    return crate::compat::fit(own, theirs);
    #[cfg(not(feature = "compat"))]
    Err("this end talks to no other version".to_owned())
}

/// Says something to the other end.
pub(crate) async fn say(connection: &mut Connection, what: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_extend(what, MAGIC.to_vec()).map_err(io::Error::other)?;
    let most = GREETING.min(connection.max_payload());
    if bytes.len() > most {
        let text = format!("a greeting of {} bytes is needed, and has at most {most}", bytes.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut bytes = Some(Bytes::from(bytes));
    std::future::poll_fn(|context| {
        let mut connection = Pin::new(&mut *connection);
        if bytes.is_some() {
            std::task::ready!(connection.as_mut().poll_ready(context))?;
            if let Some(bytes) = bytes.take() {
                connection.as_mut().start_send(bytes)?;
            }
        }
        connection.poll_flush(context)
    })
    .await
}

/// What the other end says; `None` if it is no greeting.
pub(crate) async fn hear<T: DeserializeOwned>(from: &mut Connection) -> io::Result<Option<T>> {
    let next = std::future::poll_fn(|context| Pin::new(&mut *from).poll_next(context)).await;
    let bytes = next.unwrap_or(Err(io::ErrorKind::UnexpectedEof.into()))?;
    let rest = bytes.strip_prefix(MAGIC).filter(|_| bytes.len() <= GREETING);
    let said = rest.and_then(|rest| postcard::take_from_bytes(rest).ok());
    Ok(said.and_then(|(said, rest)| rest.is_empty().then_some(said)))
}
