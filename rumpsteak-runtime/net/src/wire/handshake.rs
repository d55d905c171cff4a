//! The handshake: two ends introduce themselves, and compare their proofs.
//!
//! ```text
//! caller                                            host
//!   ── magic, Hello ─────────────────────────────────▶   is there such a role, in such a session?
//!   ◀──── Welcome: its own contract, or another answer ─   do both follow one protocol?
//! ```
//!
//! The host compares first. The caller compares again, because it need not trust the host. A
//! connection that replaces a broken one begins with the same handshake, which then says how many
//! messages each end has received.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_core::Stream as _;
use futures_sink::Sink as _;
use rumpsteak_runtime::channel::Capacity;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Blob;
use crate::error::LONGEST_NAME;
use crate::platform::lock;
use crate::platform::task::spawn_blocking;
use crate::transport::{Connection, GREETING};
use crate::{Address, Refusal};

/// The first bytes of a connection: the name and the version of the handshake.
const MAGIC: &[u8; 10] = b"rumpsteak\x08";

/// The greeting of one end of a route.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Hello {
    pub(crate) route: Arc<RouteId>,
    pub(crate) contract: Contract,
    #[serde(with = "self::format")]
    pub(crate) format: Arc<Format>,
    pub(crate) lane: LaneId,
    /// The schemes of the transports that this end accepts, best first. If empty, it accepts the
    /// transport of this connection.
    pub(crate) transports: Vec<String>,
}

/// A route: the session, and the roles at both ends.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct RouteId {
    pub(crate) protocol: Arc<str>,
    pub(crate) session: Arc<str>,
    pub(crate) role: Arc<str>,
    pub(crate) peer: Arc<str>,
}

/// A role in a session: the session, the protocol and the role.
pub(crate) type Endpoint = (Arc<str>, Arc<str>, Arc<str>);

/// The proof of the build about the role.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Contract {
    /// The fingerprint of the protocol, and of all sessions if they are safe only together.
    pub(crate) fingerprint: u64,
    /// The system for which the capacities of the queues were proven; 0 for none.
    pub(crate) system: u64,
    /// The capacity of the queue from this end, in that system.
    pub(crate) capacity: Room,
    /// The number of members if one of the ends is a member of a family; otherwise 0.
    pub(crate) members: u32,
}

/// The part of a greeting that is the same in all sessions of a role. It travels as a whole, so an
/// end that has it need not read it again.
#[derive(Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Format {
    /// The projections of the protocol onto all of its roles, as text. Empty if this end does not
    /// talk to other versions.
    pub(crate) projections: Arc<str>,
    pub(crate) codec: String,
    pub(crate) labels: Vec<String>,
    /// The fingerprints of the types in messages: see [`schema`](crate::wire::schema).
    pub(crate) types: BTreeMap<String, u64>,
    /// The other fields as they travel.
    #[serde(skip)]
    written: Bytes,
}

/// The formats of the roles in this process, by their bytes.
static FORMATS: Mutex<BTreeMap<Bytes, Arc<Format>>> = Mutex::new(BTreeMap::new());

impl Format {
    /// A format of this process, with these projections, codec and labels.
    pub(crate) fn new(texts: [&str; 3], types: BTreeMap<String, u64>) -> Arc<Self> {
        let [projections, codec, labels] = texts;
        let (projections, codec, written) = (projections.into(), codec.to_owned(), Bytes::new());
        let labels = labels.lines().map(str::to_owned).collect();
        let mut format = Self { projections, codec, labels, types, written };
        // Writing to memory does not fail.
        format.written = postcard::to_stdvec(&format).unwrap_or_default().into();
        Arc::clone(lock(&FORMATS).entry(format.written.clone()).or_insert_with(|| format.into()))
    }
}

/// Formats as they travel.
mod format {
    use serde::{Deserializer, Serializer, de::Error as _};

    use super::*;

    pub(super) fn serialize<S: Serializer>(it: &Format, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&it.written)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Format>, D::Error> {
        let Blob(written) = Blob::deserialize(from)?;
        if let Some(format) = lock(&FORMATS).get(&written) {
            return Ok(Arc::clone(format));
        }
        let format: Format = postcard::from_bytes(&written).map_err(D::Error::custom)?;
        // Not as a part of a larger message.
        Ok(Arc::new(Format { written: Bytes::copy_from_slice(&written), ..format }))
    }
}

/// The identity of a lane, and its progress.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct LaneId {
    /// The secret token of this end. An end that knows both tokens may resume.
    pub(crate) own: u128,
    /// The token of the other end, if this connection replaces one that broke.
    pub(crate) known: Option<u128>,
    /// The random numbers of the last hosts to which the session moved.
    pub(crate) moves: Vec<u128>,
    pub(crate) received: u64,
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

/// The answer of a host to a greeting.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Answer {
    /// The greeting of the host, without its route: it is the caller's, seen from the other end.
    Welcome(Contract, #[serde(with = "self::format")] Arc<Format>, LaneId, Vec<String>),
    Refused(Refusal),
    /// The role has moved to one of these addresses.
    Moved(Vec<Address>),
    /// The caller is to use one of these addresses of the host.
    Offers(Vec<Address>),
}

impl RouteId {
    pub(crate) fn near(&self) -> Endpoint {
        (self.session.clone(), self.protocol.clone(), self.role.clone())
    }

    pub(crate) fn far(&self) -> Endpoint {
        (self.session.clone(), self.protocol.clone(), self.peer.clone())
    }
}

impl Hello {
    /// Checks that two ends are compatible. A blocking thread compares two versions of a protocol.
    pub(crate) async fn fits(&self, other: &Self) -> Result<(), Refusal> {
        let (own, theirs) = (&self.format, &other.format);
        let is_same = Arc::ptr_eq(own, theirs);
        if own.codec != theirs.codec {
            return Err(Refusal::Codec([own.codec.clone(), theirs.codec.clone()]));
        }
        let members = [self.contract.members, other.contract.members];
        if members[0] != members[1] {
            return Err(Refusal::Members(members));
        }
        // A message type that is a struct has no number. Its label has a space, unlike all others.
        let is_struct =
            |format: &&Arc<Format>| format.labels.iter().any(|it| it.starts_with("struct "));
        if !is_same && own.labels != theirs.labels && [own, theirs].iter().any(is_struct) {
            return Err(Refusal::Labels([own.labels.join(", "), theirs.labels.join(", ")]));
        }
        let differs = |(name, own): &(&String, &u64)| {
            theirs.types.get(*name).is_some_and(|theirs| theirs != *own)
        };
        if !is_same && let Some((name, _)) = own.types.iter().find(differs) {
            return Err(Refusal::Type(name.clone()));
        }
        if self.contract.fingerprint == other.contract.fingerprint {
            return Ok(());
        }
        let projections = [self, other].map(|hello| Arc::clone(&hello.format.projections));
        let compared = spawn_blocking(move || versions_fit(&projections));
        compared.await.unwrap_or_else(|error| Err(error.to_string())).map_err(Refusal::Protocol)
    }

    pub(crate) fn has_short_names(&self) -> bool {
        let RouteId { protocol, session, role, peer } = &*self.route;
        let names = [protocol, session, role, peer].into_iter().map(|name| &**name);
        let others = self.transports.iter().chain([&self.format.codec]).map(String::as_str);
        names.chain(others).all(|name| name.len() <= LONGEST_NAME)
    }

    /// Returns true if this end greets that very end, or any end that plays the role.
    pub(crate) fn knows(&self, other: &Self) -> bool {
        self.lane.known.is_none_or(|known| known == other.lane.own)
    }

    /// Returns true if the session came here from the host that greeted like `before`. If a parcel
    /// was copied, only one copy does.
    pub(crate) fn follows(&self, before: &Self) -> bool {
        before.lane.moves.last().is_none_or(|last| self.lane.moves.contains(last))
    }

    pub(crate) fn welcome(&self) -> Answer {
        let Self { contract, format, lane, transports, .. } = self.clone();
        Answer::Welcome(contract, format, lane, transports)
    }

    pub(crate) fn knowing(mut self, token: u128) -> Self {
        self.lane.known = Some(token);
        self
    }

    pub(crate) fn having(mut self, received: u64) -> Self {
        self.lane.received = received;
        self
    }

    pub(crate) fn moved(mut self, number: u128) -> Self {
        let moves = &mut self.lane.moves;
        moves.drain(..moves.len().saturating_sub(MOVES));
        moves.push(number);
        self
    }

    /// The numbers that the labels of the other end have here, if the labels differ.
    pub(crate) fn numbers(&self, other: &Self) -> Option<Numbers> {
        let (own, theirs) = (&self.format.labels, &other.format.labels);
        let number = |label| (0..).zip(own).find(|(_, own)| *own == label).map(|(at, _)| at);
        let is_same = Arc::ptr_eq(&self.format, &other.format) || own == theirs;
        (!is_same).then(|| theirs.iter().map(number).collect())
    }
}

/// The number of moves that a peer may miss.
const MOVES: usize = 64;

/// The number that each label of the other end has here, in order; `None` for an unknown label.
pub(crate) type Numbers = Vec<Option<u32>>;

/// Checks that two versions of a protocol are compatible.
fn versions_fit(projections: &[Arc<str>; 2]) -> Result<(), String> {
    match projections {
        #[cfg(feature = "compat")]
        [own, theirs] if !own.is_empty() && !theirs.is_empty() => super::compat::fit(own, theirs),
        _ => Err("they are compared only if both ends have the feature `compat` of rumpsteak-net, and neither has sessions \
                  that are safe only together with the other sessions of its build"
            .to_owned()),
    }
}

pub(crate) async fn say(connection: &mut Connection, what: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_extend(&(MAGIC, what), Vec::with_capacity(256));
    let bytes = bytes.map_err(io::Error::other)?;
    let most = GREETING.min(connection.max_payload());
    if bytes.len() > most {
        let text = format!("the greeting has {} bytes, and the limit is {most}", bytes.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut connection = Pin::new(connection);
    poll_fn(|context| connection.as_mut().poll_ready(context)).await?;
    connection.as_mut().start_send(bytes.into())?;
    if connection.flushes_itself() {
        return Ok(());
    }
    poll_fn(|context| connection.as_mut().poll_flush(context)).await
}

/// Receives a greeting or an answer; `None` if other bytes came.
pub(crate) async fn hear<T: DeserializeOwned>(from: &mut Connection) -> io::Result<Option<T>> {
    let next = poll_fn(|context| Pin::new(&mut *from).poll_next(context)).await;
    let bytes = next.unwrap_or(Err(io::ErrorKind::UnexpectedEof.into()))?;
    let rest = bytes.strip_prefix(MAGIC).filter(|_| bytes.len() <= GREETING);
    let said = rest.and_then(|rest| postcard::take_from_bytes(rest).ok());
    Ok(said.and_then(|(said, rest)| rest.is_empty().then_some(said)))
}
