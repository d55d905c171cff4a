//! The errors between processes.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use crate::refusal::LONGEST_NAME;
use crate::{Address, AddressError, Refusal};

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
