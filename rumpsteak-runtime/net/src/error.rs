//! The errors between processes.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use serde::{Deserialize, Serialize};

use crate::{Address, AddressError};

/// The error of a message that could not be written or read.
pub type CodecError = Box<dyn std::error::Error + Send + Sync>;

/// The error of a session that could not be joined, or ended before its time.
///
/// In a process it is the source of an
/// [`ErrorKind::Transport`](rumpsteak_runtime::ErrorKind::Transport). `role` is the role that
/// reports the error, `peer` the role at the other end of its route, and `source` what the
/// transport or the codec says.
#[allow(missing_docs, reason = "the fields are explained above, or with their variant")]
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// A text is no address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// No transport has the scheme of this address.
    #[error("no transport is known for {address}: {}", wanted(address.scheme(), known))]
    Scheme { address: Address, known: Vec<&'static str> },
    /// Nobody can listen at this address.
    #[error("cannot listen at {address}")]
    Listen { address: Address, source: Arc<io::Error> },
    /// No call to this address can succeed: it has no sense to its transport, or one end does not
    /// believe the certificate of the other, for example.
    #[error("cannot call {address}")]
    Call { address: Address, source: Arc<io::Error> },
    /// The name of a session is too long for a greeting.
    #[error(
        "the name of a session has at most {LONGEST_NAME} bytes, and this one has {bytes}: `{start}…`"
    )]
    SessionName { start: String, bytes: usize },
    /// The operating system has no random numbers, which are the tokens of connections.
    #[error("the operating system gives no random numbers")]
    Random(#[source] Arc<io::Error>),
    /// The role takes part in this session on this host already.
    #[error("`{role}` has joined the session `{session}` already")]
    Joined { role: String, session: String },
    /// An address was given for a role that has no route to this one.
    #[error("`{role}` has no route to a role `{peer}`: its peers are {}", peers.join(", "))]
    NoPeer { role: &'static str, peer: String, peers: Vec<&'static str> },
    /// The role follows no protocol, so that programs which were built apart cannot know that they
    /// follow the same one.
    #[error("`{role}` follows no protocol: give it one, by `#[protocol(…)]`")]
    NoProtocol { role: &'static str },
    /// A label and a type in payloads have one name, by which both ends would compare them.
    #[error(
        "`{name}` is a label and a type in payloads, too, which are compared by their names: rename \
         that type (or `#[serde(rename = \"…\")]`), or use a codec that writes names"
    )]
    Ambiguous { name: String },
    /// A route of the role cannot lead to another process.
    #[error("the route of `{role}` to `{peer}` stays in its process: make it a `Net`")]
    Route { role: &'static str, peer: &'static str },
    /// This session is not the one that the role has joined, or was gone on with.
    #[error("the session is not the one that `{role}` has joined here, or was gone on with")]
    NotHere { role: &'static str },
    /// The session cannot go to another host yet: a peer that plays on demand has not come, and is
    /// to call this host, since the role has no address of it.
    #[error("`{role}` has to stay until `{peer}` has called it, or to know where to call `{peer}`")]
    Expected { role: String, peer: String },
    /// A [`Parcel`](crate::Parcel) has another session than it was taken for: one in another state,
    /// or of another version of the program.
    #[error("the session of `{role}` that was handed over is another one than is expected here")]
    OtherSession { role: &'static str },
    /// A peer did not come in time, or cannot.
    #[error("`{role}` waits for `{peer}` in the session `{session}`, {how}")]
    Absent {
        role: String,
        peer: String,
        session: String,
        how: String,
        #[source]
        last: Option<Arc<io::Error>>,
    },
    /// The ends do not fit together, or one of them does not want the other.
    #[error("`{peer}` {}{refusal}", relation(refusal))]
    Refused { peer: String, refusal: Refusal },
    /// What a peer sent is no frame of this protocol, or one that it may not send.
    #[error("`{peer}` sent {what}")]
    Frame { peer: String, what: &'static str },
    /// A message of a peer cannot be read.
    #[error("a message from `{peer}` cannot be read")]
    Decode { peer: String, source: Arc<CodecError> },
    /// A message cannot be written, or is larger than a frame may be.
    #[error("the message `{label}`, sent to `{peer}` before, cannot be written")]
    Encode { peer: String, label: &'static str, source: Arc<CodecError> },
    /// The connection to a peer broke, and was not made again in time.
    #[error(
        "`{peer}` is lost, or ended without `leave()`: its connection broke and was not resumed within {waited:?}"
    )]
    Lost { peer: String, waited: Duration, source: Arc<io::Error> },
    /// The connection to a program that knows nothing of sessions broke, or what came over it is no
    /// message.
    #[error("the connection to `{peer}` failed")]
    Bridge { peer: String, source: Arc<CodecError> },
}

/// What a host needs so that it knows a scheme.
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

/// What stands between a peer and its refusal.
fn relation(refusal: &Refusal) -> &'static str {
    match refusal {
        // Of these the peer is the subject.
        Refusal::Gone | Refusal::StartedAgain | Refusal::Taken => "",
        _ => "and this end do not fit together: ",
    }
}

impl fmt::Debug for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}{}", self.source().map_or(String::new(), |source| format!(": {source}")))
    }
}

/// The longest name in a greeting, in bytes: hosts remember some.
pub(crate) const LONGEST_NAME: usize = 256;

/// The reason why two ends do not come together. Texts are those of both ends.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The certificate of the other end does not allow that role.
    #[error("its certificate is not one for this role")]
    Certificate,
    /// They use these codecs.
    #[error("one writes messages by the codec `{}`, the other by `{}`", .0[0], .0[1])]
    Codec([String; 2]),
    /// The message type of one of them is a struct, and the other one is another type.
    #[error(
        "their message types differ: the labels of one are `{}`, those of the other `{}`", .0[0], .0[1]
    )]
    Labels([String; 2]),
    /// No greeting of this version came.
    #[error("what came is no greeting of this version of rumpsteak-net")]
    NoGreeting,
    /// They follow versions of the protocol that differ.
    #[error("they were verified against different versions of the protocol: {0}")]
    Protocol(String),
    /// Another end has that role in that session.
    #[error(
        "has this role in this session already: another process plays it, or this one did before it \
         was started again"
    )]
    Taken,
    /// There is no transport that both accept: those of the caller, and those of the host.
    #[error("one talks over these transports: {}; the other over these: {}", .0[0], .0[1])]
    Transport([String; 2]),
    /// A type in their messages has other fields or variants, or another order of them; or, within
    /// one process, it is another type.
    #[error(
        "the type `{0}` in their messages is not the same: between processes, its fields or variants \
         must have the same names, types and order; within one, it must be one type"
    )]
    Type(String),
    /// No role there has this name in this session.
    #[error("nobody there plays this role in this session")]
    Unknown,
    /// The session is gone there: the role has left it, or was started again.
    #[error("has this session no more, and may have been started again")]
    Gone,
    /// The role has joined a session of this name anew, after its process was started again.
    #[error("was started again: this session went with the process before it")]
    StartedAgain,
    /// A name in the greeting is too long.
    #[error(
        "a name in the greeting, such as that of the session, is longer than {LONGEST_NAME} bytes"
    )]
    Name,
}
