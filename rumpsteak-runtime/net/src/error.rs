//! The errors of sessions between processes.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use serde::{Deserialize, Serialize};

use crate::{Address, AddressError};

/// The error of a message that could not be written or read.
pub type CodecError = Box<dyn std::error::Error + Send + Sync>;

/// The error of a session that could not be joined, or ended early.
///
/// In a process it is the source of an
/// [`ErrorKind::Transport`](rumpsteak_runtime::ErrorKind::Transport). `role` is the role that
/// reports the error, `peer` the role at the other end of its route, and `source` the error of the
/// transport or the codec.
#[allow(missing_docs, reason = "the fields are explained above, or with their variant")]
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// A text is not an address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// No transport has the scheme of this address.
    #[error("no transport is known for {address}: {}", wanted(address.scheme(), known))]
    Scheme { address: Address, known: Vec<&'static str> },
    /// The host cannot listen at this address.
    #[error("cannot listen at {address}")]
    Listen { address: Address, source: Arc<io::Error> },
    /// The host cannot accept a connection. It drops the oldest one that has not greeted yet, and
    /// tries again.
    #[error("cannot accept connections at {address}, and drops one that has not greeted yet")]
    Accept { address: Address, source: Arc<io::Error> },
    /// Too many callers wait for an answer. The host turns away callers of new sessions.
    #[error(
        "callers of new sessions are turned away at {address}: {limit} others wait for an answer, \
         the limit of `Limits::connections`"
    )]
    Full { address: Address, limit: usize },
    /// No call to this address can succeed. For example, its transport cannot read it, or one end
    /// does not trust the certificate of the other.
    #[error("cannot call {address}")]
    Call { address: Address, source: Arc<io::Error> },
    /// The name of a session is too long for a greeting.
    #[error(
        "the name of a session has at most {LONGEST_NAME} bytes, and this one has {bytes}: `{start}…`"
    )]
    SessionName { start: String, bytes: usize },
    /// The operating system has no random numbers for the tokens of connections.
    #[error("the operating system provides no random numbers")]
    Random(#[source] Arc<io::Error>),
    /// The role has already joined this session on this host.
    #[error("`{role}` has already joined the session `{session}`")]
    Joined { role: String, session: String },
    /// An address was given for a role that has no route to this one.
    #[error("`{role}` has no route to a role `{peer}`: its peers are {}", peers.join(", "))]
    NoPeer { role: &'static str, peer: String, peers: Vec<String> },
    /// The number of members of a family, or the index of a member, is missing or wrong.
    #[error(
        "`{role}` joins with the number of members of a family, `.members(\"{family}\", N)`; a member also with its \
         index, `.member(0)` to N - 1; any other role without"
    )]
    Family { role: &'static str, family: &'static str },
    /// The role follows no protocol, by which programs that were built separately are compared.
    #[error("`{role}` follows no protocol: give it one, by `#[protocol(…)]`")]
    NoProtocol { role: &'static str },
    /// A label and a type in a payload have the same name. The ends compare types by their names.
    #[error(
        "`{name}` is the name of a label and of a type in a payload, and the ends compare types by \
         name: rename the type (or `#[serde(rename = \"…\")]`), or use a codec that writes names"
    )]
    Ambiguous { name: String },
    /// The role has joined another session, or has already continued this one.
    #[error("`{role}` has joined another session here, or has already continued this one")]
    NotHere { role: &'static str },
    /// The session cannot move to another host yet: a peer that plays on demand has not come, and
    /// only the peer can call, since the role has no address of it.
    #[error(
        "`{role}` cannot move before `{peer}` has called it, as no address of `{peer}` was given"
    )]
    Expected { role: String, peer: String },
    /// A [`Parcel`](crate::Parcel) has a session in another state, or of another version of the
    /// program.
    #[error("the session of `{role}` that was handed over is not the one that is expected here")]
    OtherSession { role: &'static str },
    /// A peer did not join in time, or cannot join.
    #[error("`{role}` waits for `{peer}` in the session `{session}`, {how}")]
    Absent {
        role: String,
        peer: String,
        session: String,
        how: String,
        #[source]
        last: Option<Arc<io::Error>>,
    },
    /// The ends are incompatible, or one of them refuses the other.
    #[error("the connection to `{peer}` was refused: {refusal}")]
    Refused { peer: String, refusal: Refusal },
    /// A peer sent bytes that are not a frame, or a frame that it may not send.
    #[error("`{peer}` sent {what}")]
    Frame { peer: String, what: &'static str },
    /// A message of a peer cannot be read.
    #[error("a message from `{peer}` cannot be read")]
    Decode { peer: String, source: Arc<CodecError> },
    /// A message cannot be written, or is larger than a frame.
    #[error("the message `{label}` to `{peer}` cannot be written")]
    Encode { peer: String, label: &'static str, source: Arc<CodecError> },
    /// The connection to a peer broke, and was not replaced in time.
    #[error(
        "`{peer}` is lost, or its program ended before `Joined::leave`: its connection broke and was not resumed within {waited:?}"
    )]
    Lost { peer: String, waited: Duration, source: Arc<io::Error> },
    /// The log of a stored role cannot be read or written.
    #[cfg(feature = "nats")]
    #[error("the session cannot be stored")]
    Store(#[source] Arc<io::Error>),
    /// A stored role receives after it has sent. Its messages only leave when it is saved, so it
    /// might wait for ever.
    #[error("the role is stored, and receives after it has sent: save it in between")]
    Unsaved,
    /// A stored role has given its session up.
    #[error("`{peer}` has given the session up")]
    GaveUp { peer: String },
    /// The connection of a [`Bridge`](crate::Bridge) broke, or bytes came that are not a message.
    #[error("the connection to `{peer}` failed")]
    Bridge { peer: String, source: Arc<CodecError> },
}

/// The way to give a host a transport for a scheme.
fn wanted(scheme: &str, known: &[&str]) -> String {
    let (feature, is_on) = match scheme {
        "tcp" => ("tcp", cfg!(feature = "tcp")),
        "unix" if cfg!(unix) => ("unix", cfg!(feature = "unix")),
        "tls" => ("tls", cfg!(feature = "tls")),
        "quic" => ("quic", cfg!(feature = "quic")),
        "nats" => ("nats", cfg!(feature = "nats")),
        "ws" => ("websocket", cfg!(feature = "websocket")),
        "wss" => ("tls` and `websocket", cfg!(all(feature = "tls", feature = "websocket"))),
        _ => return format!("the schemes are {}", known.join(", ")),
    };
    if is_on {
        format!("give it to the host, by `Transports::default().with(\"{scheme}\", …)`")
    } else {
        format!("in Cargo.toml, `rumpsteak-net` lacks the feature `{feature}`")
    }
}

impl fmt::Debug for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}{}", self.source().map_or(String::new(), |source| format!(": {source}")))
    }
}

/// The longest name in a greeting, in bytes. Hosts keep names of strangers in memory.
pub(crate) const LONGEST_NAME: usize = 256;

/// The reason why one end refuses the other. Pairs of texts belong to the two ends.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The certificate of the other end does not allow the role.
    #[error("the certificate or the token of one end is not for the role that it plays")]
    Certificate,
    /// The ends use these codecs.
    #[error("one writes messages by the codec `{}`, the other by `{}`", .0[0], .0[1])]
    Codec([String; 2]),
    /// The message types differ, and one of them is a struct.
    #[error(
        "their message types differ: one has the labels `{}`, the other `{}`", .0[0], .0[1]
    )]
    Labels([String; 2]),
    /// The ends give a family different numbers of members.
    #[error("for one end the family has {} members, for the other {}", .0[0], .0[1])]
    Members([u32; 2]),
    /// The other end did not send a greeting of this version.
    #[error("one end did not send a greeting of this version of rumpsteak-net")]
    NoGreeting,
    /// The ends follow incompatible versions of the protocol.
    #[error("they were verified against different versions of the protocol: {0}")]
    Protocol(String),
    /// Another end already has the role in the session.
    #[error(
        "another process already plays this role in this session, or this process did before it \
         restarted"
    )]
    Taken,
    /// The caller and the host accept no transport in common.
    #[error("one talks over these transports: {}; the other over these: {}", .0[0], .0[1])]
    Transport([String; 2]),
    /// A type in messages has other fields or variants, or another order of them. Within one
    /// process, it is another type.
    #[error(
        "the type `{0}` in their messages differs: between processes, its fields or variants must \
         have the same names, types and order; within a process, it must be one type"
    )]
    Type(String),
    /// The host has no such role in the session.
    #[error("the host there does not play this role in this session")]
    Unknown,
    /// The role has left the session, or has restarted.
    #[error("it no longer has this session, and may have restarted")]
    Gone,
    /// The role restarted, and has joined a new session of this name.
    #[error("it has restarted, and this session ended with the previous process")]
    StartedAgain,
    /// A name in the greeting is too long.
    #[error("a name in the greeting, such as the session's, is longer than {LONGEST_NAME} bytes")]
    Name,
    /// The host has no place for a new caller. The caller calls again.
    #[error("the host there turns away new sessions, as too many callers wait for an answer")]
    Full,
}
