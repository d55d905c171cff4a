//! What can go wrong while a session runs.
//!
//! The protocol itself cannot: a session that compiles was verified, so its roles never wait for
//! each other in a circle and never meet a message that they do not expect. What remains is the
//! outside world (a peer that failed, a broken transport, a foreign program at the other end) and
//! the misuses of a role that Rust's types cannot refuse. Every error leaves the role
//! poisoned: see [`Role::is_poisoned`](crate::Role::is_poisoned).

use std::error::Error as StdError;
use std::fmt;

/// The result of a session or of one of its actions.
///
/// The error defaults to [`Error`], so that processes read as in the papers: `async fn kernel(..)
/// -> Result<i32>`.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a transport, as it came from its `Sink` or `Stream`.
pub type BoxError = Box<dyn StdError + std::marker::Send + Sync + 'static>;

/// Why a session, or one of its actions, failed: see [`kind`](Error::kind).
///
/// ```
/// # use rumpsteak_doctests::rumpsteak;
/// use rumpsteak::{Error, ErrorKind};
///
/// /// Whether it may help to replace the roles and to try again.
/// fn is_temporary(error: &Error) -> bool {
///     match error.kind() {
///         ErrorKind::Closed { .. } | ErrorKind::Poisoned { .. } => true,
///         ErrorKind::Transport { source, .. } => source.is::<std::io::Error>(),
///         _ => false,
///     }
/// }
/// ```
///
/// It is as large as a pointer, since every action returns a result that could hold one.
pub struct Error {
    kind: Box<ErrorKind>,
}

impl Error {
    /// What a process returns that gives up for a reason of its own: [`ErrorKind::Other`].
    ///
    /// ```
    /// # use rumpsteak_doctests::rumpsteak;
    /// use std::error::Error as _;
    ///
    /// use rumpsteak::{Error, ErrorKind};
    ///
    /// let error = Error::other("too late");
    /// assert!(matches!(error.kind(), ErrorKind::Other { .. }));
    /// // It is shown, and so is not its own source.
    /// assert_eq!(error.to_string(), "too late");
    /// assert!(error.source().is_none());
    /// ```
    #[cold]
    pub fn other(source: impl Into<BoxError>) -> Self {
        ErrorKind::Other { source: source.into() }.into()
    }

    /// What went wrong, and where.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// As [`kind`](Error::kind), by value: for the error of a transport.
    pub fn into_kind(self) -> ErrorKind {
        *self.kind
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    #[inline(never)]
    fn from(kind: ErrorKind) -> Self {
        Self { kind: Box::new(kind) }
    }
}

/// For people, with the source: a `main` that returns it prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}{}", self.source().map_or(String::new(), |source| format!(": {source:?}")))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind, f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.kind() {
            ErrorKind::Leave { source, .. } | ErrorKind::Transport { source, .. } => {
                Some(&**source)
            }
            // It is shown itself.
            ErrorKind::Other { source } => source.source(),
            _ => None,
        }
    }
}

/// Why a session, or one of its actions, failed.
///
/// `role` is the role that reports the error, `peer` the role at the other end of the route, and
/// `action` what `role` was about to do. Roles and labels have their names in the protocol.
#[allow(missing_docs, reason = "the fields are explained above, or with their variant")]
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The peer has closed the route.
    ///
    /// Its process returned early, failed, panicked or was cancelled, or the peer was dropped. What
    /// the peer had sent before is still delivered; this is what follows it.
    Closed { role: &'static str, peer: &'static str, action: Action },

    /// The session returned the [`End`](crate::states::End) of another session.
    ///
    /// Two sessions of one role type exchanged their ends. Both roles are poisoned, because
    /// neither can tell how far its own session has come.
    ForeignEnd { role: &'static str },

    /// The role has played its sessions to their end, and cannot know whether its peers have its
    /// last messages: a peer was lost, for example.
    Leave { role: &'static str, source: BoxError },

    /// A route of the role is not where its set put it.
    ///
    /// Two routes of one type were exchanged (`mem::swap`), within a role or between two. Messages
    /// would reach roles that expect others, or none. `route` is the struct of the peer to which
    /// the route should lead. `belongs` is the role of the route and its peer; `None` if the route
    /// belongs into this place, but in another set of roles than the routes before it.
    Misplaced {
        role: &'static str,
        route: &'static str,
        belongs: Option<(&'static str, &'static str)>,
    },

    /// The process gave up: see [`Error::other`].
    Other { source: BoxError },

    /// The session was used outside of its process: in another task, or after that had ended.
    ///
    /// For another task, take the session away: [`Detached`](crate::Detached).
    Outside { role: &'static str },

    /// An earlier session of this role did not return its [`End`](crate::states::End): it failed,
    /// panicked or was cancelled.
    ///
    /// Messages of that session may still be under way, so the role cannot begin another. Reset it
    /// together with its peers: see [`Role::is_poisoned`](crate::Role::is_poisoned).
    Poisoned { role: &'static str },

    /// The role cannot have a second session over the same routes.
    ///
    /// Either it hears several peers in one state, and the route to this peer does not [keep
    /// sessions apart](crate::transport::Link::keeps_sessions_apart). Or the peer plays on demand,
    /// with several peers: which of them calls it first is known within a session only.
    SecondSession { role: &'static str, peer: &'static str },

    /// The transport failed.
    Transport { role: &'static str, peer: &'static str, action: Action, source: BoxError },

    /// A message arrived that the protocol does not allow here.
    ///
    /// Roles that were verified together never do this to each other: the peer is another program,
    /// or an older version of the protocol. `role` was ready to receive the labels in `legal`. The
    /// message is dropped.
    Unexpected {
        role: &'static str,
        peer: &'static str,
        legal: &'static [&'static str],
        came: &'static str,
    },
}

/// The action of a session that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Receiving one of these labels.
    Receive(&'static [&'static str]),
    /// Sending this label.
    Send(&'static str),
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { role, peer, action } => {
                failed(f, role, peer, *action)?;
                write!(
                    f,
                    ": `{peer}` has closed the route (it failed, was cancelled or was dropped)"
                )
            }
            Self::ForeignEnd { role } => write!(
                f,
                "the session of `{role}` returned the end of another session; both roles are poisoned"
            ),
            Self::Leave { role, .. } => write!(
                f,
                "`{role}` has done its part, but cannot know whether its peers have its last messages"
            ),
            Self::Misplaced { role, route, belongs } => {
                write!(f, "`{role}` cannot begin a session: its route to `{route}` ")?;
                match belongs {
                    Some((role, peer)) => write!(f, "is that of `{role}` to `{peer}`"),
                    None => f.write_str("is that of another set of roles"),
                }
            }
            Self::Other { source } => fmt::Display::fmt(source, f),
            Self::Outside { role } => write!(
                f,
                "the session of `{role}` was used outside of its process: in another task, or after its process \
                 had ended; `Detached` takes a session to another task"
            ),
            Self::Poisoned { role } => write!(
                f,
                "role `{role}` is poisoned: an earlier session of it did not reach its end; \
                 reset the role together with its peers"
            ),
            Self::SecondSession { role, peer } => write!(
                f,
                "`{role}` cannot have a second session over the same routes: messages of two sessions could be \
                 confused at `{role}` or `{peer}`; make fresh roles for each session"
            ),
            Self::Transport { role, peer, action, .. } => {
                failed(f, role, peer, *action)?;
                f.write_str(": the transport failed")
            }
            Self::Unexpected { role, peer, legal, came } => {
                write!(f, "`{role}` got `{came}` from `{peer}` but can only receive ")?;
                alternatives(f, legal)
            }
        }
    }
}

fn failed(f: &mut fmt::Formatter<'_>, role: &str, peer: &str, action: Action) -> fmt::Result {
    match action {
        Action::Receive(labels) => {
            write!(f, "`{role}` cannot receive ")?;
            alternatives(f, labels)?;
            write!(f, " from `{peer}`")
        }
        Action::Send(label) => write!(f, "`{role}` cannot send `{label}` to `{peer}`"),
    }
}

/// Writes `` `a`, `b` or `c` ``.
fn alternatives(f: &mut fmt::Formatter<'_>, labels: &[&str]) -> fmt::Result {
    for (index, label) in labels.iter().enumerate() {
        let before = match index {
            0 => "",
            _ if index + 1 == labels.len() => " or ",
            _ => ", ",
        };
        write!(f, "{before}`{label}`")?;
    }
    Ok(())
}

/// A send that failed, with its label where the transport had not yet taken it.
///
/// Returned by [`Send::send_or_return`](crate::states::Send::send_or_return) and
/// [`Select::select_or_return`](crate::states::Select::select_or_return); `?` turns it into the
/// plain [`Error`].
#[non_exhaustive]
pub struct Unsent<L> {
    /// Why the send failed.
    pub error: Error,
    /// The label, unless the transport failed after it had taken it.
    pub label: Option<L>,
}

impl<L> From<Unsent<L>> for Error {
    fn from(unsent: Unsent<L>) -> Self {
        unsent.error
    }
}

impl<L> fmt::Debug for Unsent<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsent")
            .field("error", &self.error)
            .field("label_returned", &self.label.is_some())
            .finish()
    }
}

impl<L> fmt::Display for Unsent<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<L> StdError for Unsent<L> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source()
    }
}
