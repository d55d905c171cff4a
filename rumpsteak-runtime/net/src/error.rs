//! What can go wrong between processes.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use crate::address::{Address, AddressError};
use crate::codec::CodecError;
use crate::refusal::{LONGEST_NAME, Refusal};

/// Why a session could not be joined, or ended before its time.
///
/// In a process it is the source of an
/// [`ErrorKind::Transport`](rumpsteak_runtime::ErrorKind::Transport).
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// A text is no address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// No transport has the scheme of this address.
    #[error("no transport is known for {address}: {}", wanted(address.scheme(), known))]
    Scheme {
        /// The address.
        address: Address,
        /// The schemes that have a transport.
        known: Vec<&'static str>,
    },
    /// Nobody can listen at this address.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address.
        address: Address,
        /// What the transport says.
        source: Arc<io::Error>,
    },
    /// No call to this address can succeed: it has no sense to its transport, or one end does not
    /// believe the certificate of the other, for example.
    #[error("cannot call {address}")]
    Call {
        /// The address.
        address: Address,
        /// What the transport says.
        source: Arc<io::Error>,
    },
    /// The name of a session is too long for a greeting.
    #[error(
        "the name of a session has at most {LONGEST_NAME} bytes, and this one has {bytes}: `{start}…`"
    )]
    SessionName {
        /// The first characters of the name.
        start: String,
        /// How many bytes it has.
        bytes: usize,
    },
    /// The operating system has no random numbers, which are the tokens of connections.
    #[error("the operating system gives no random numbers")]
    Random(#[source] Arc<io::Error>),
    /// The role takes part in this session on this host already.
    #[error("`{role}` has joined the session `{session}` already")]
    Joined {
        /// The role.
        role: String,
        /// The session.
        session: String,
    },
    /// An address was given for a role that has no route to this one.
    #[error("`{role}` has no route to a role `{peer}`: its peers are {}", peers.join(", "))]
    NoPeer {
        /// The role that joins.
        role: &'static str,
        /// The role that is no peer.
        peer: String,
        /// The roles that are.
        peers: Vec<&'static str>,
    },
    /// The role follows no protocol, so that programs which were built apart cannot know that they
    /// follow the same one.
    #[error("`{role}` follows no protocol: give it one, by `#[protocol(…)]`")]
    NoProtocol {
        /// The role.
        role: &'static str,
    },
    /// A label and a type in payloads have one name, by which both ends would compare them.
    #[error(
        "`{name}` is a label and a type in payloads, too, which are compared by their names: rename \
         that type (or `#[serde(rename = \"…\")]`), or use a codec that writes names"
    )]
    Ambiguous {
        /// The name.
        name: String,
    },
    /// A route of the role cannot lead to another process.
    #[error("the route of `{role}` to `{peer}` stays in its process: make it a `Net`")]
    Route {
        /// The role.
        role: &'static str,
        /// The peer to which the route leads.
        peer: &'static str,
    },
    /// This session is not the one that the role has joined, or was gone on with.
    #[error("the session is not the one that `{role}` has joined here, or was gone on with")]
    NotHere {
        /// The role.
        role: &'static str,
    },
    /// The session cannot go to another host yet: a peer that plays on demand has not come, and is
    /// to call this host, since the role has no address of it.
    #[error("`{role}` has to stay until `{peer}` has called it, or to know where to call `{peer}`")]
    Expected {
        /// The role.
        role: String,
        /// The peer.
        peer: String,
    },
    /// A [`Parcel`](crate::Parcel) has another session than it was taken for: one in another state,
    /// or of another version of the program.
    #[error("the session of `{role}` that was handed over is another one than is expected here")]
    OtherSession {
        /// The role.
        role: &'static str,
    },
    /// A peer did not come in time, or cannot.
    #[error("`{role}` waits for `{peer}` in the session `{session}`, {how}")]
    Absent {
        /// The role that waits.
        role: String,
        /// The peer.
        peer: String,
        /// The session.
        session: String,
        /// For how long, and where the peer was called, or was to call.
        how: String,
        /// The last thing that went wrong when it was called, if it was.
        #[source]
        last: Option<Arc<io::Error>>,
    },
    /// The ends do not fit together, or one of them does not want the other.
    #[error("`{peer}` {}{refusal}", relation(refusal))]
    Refused {
        /// The peer.
        peer: String,
        /// Why.
        refusal: Refusal,
    },
    /// What a peer sent is no frame of this protocol, or one that it may not send.
    #[error("`{peer}` sent {what}")]
    Frame {
        /// The peer.
        peer: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A message of a peer cannot be read.
    #[error("a message from `{peer}` cannot be read")]
    Decode {
        /// The peer.
        peer: String,
        /// What the codec says.
        source: Arc<CodecError>,
    },
    /// A message cannot be written, or is larger than a frame may be.
    #[error("the message `{label}`, sent to `{peer}` before, cannot be written")]
    Encode {
        /// The peer.
        peer: String,
        /// The label of the message.
        label: &'static str,
        /// What the codec says.
        source: Arc<CodecError>,
    },
    /// The connection to a peer broke, and was not made again in time.
    #[error(
        "`{peer}` is lost, or ended without `leave()`: its connection broke and was not resumed within {waited:?}"
    )]
    Lost {
        /// The peer.
        peer: String,
        /// How long it was tried to resume the connection.
        waited: Duration,
        /// The last thing that went wrong.
        source: Arc<io::Error>,
    },
    /// The connection to a program that knows nothing of sessions broke, or what came over it is no
    /// message.
    #[error("the connection to `{peer}` failed")]
    Bridge {
        /// The peer.
        peer: String,
        /// What the socket or the codec says.
        source: Arc<CodecError>,
    },
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
