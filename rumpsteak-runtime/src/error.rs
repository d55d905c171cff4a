//! The errors of sessions.
//!
//! A verified session cannot deadlock or receive a message that it does not expect. What can fail
//! is the outside world (a peer that failed, a broken transport, a foreign program at the other
//! end) and misuse of a role that Rust's types cannot refuse. Every error poisons the role: see
//! [`Role::is_poisoned`](crate::Role::is_poisoned).

use std::error::Error as StdError;
use std::fmt;

/// The result of a session or of one of its actions.
///
/// The error defaults to [`Error`], so processes read as in the papers:
/// `async fn kernel(..) -> Result<i32>`.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a transport's `Sink` or `Stream`.
pub type BoxError = Box<dyn StdError + std::marker::Send + Sync + 'static>;

/// Why a session, or one of its actions, failed: see [`kind`](Error::kind).
///
/// An `Error` is as large as a pointer, because every action returns a result.
pub struct Error {
    kind: Box<ErrorKind>,
}

impl Error {
    /// The error of a process that gives up for its own reasons: [`ErrorKind::Other`].
    ///
    /// ```
    /// # use rumpsteak_doctests::rumpsteak;
    /// use std::error::Error as _;
    ///
    /// let error = rumpsteak::Error::other("too late");
    /// assert!(matches!(error.kind(), rumpsteak::ErrorKind::Other { .. }));
    /// // The source is the message itself.
    /// assert_eq!(error.to_string(), "too late");
    /// assert!(error.source().is_none());
    /// ```
    #[cold]
    pub fn other(source: impl Into<BoxError>) -> Self {
        ErrorKind::Other { source: source.into() }.into()
    }

    /// The reason of the failure, with the role, the peer and the action.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The [`kind`](Error::kind) by value, for example to get at the error of a transport.
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

/// The message and its source, because a `main` that returns the error prints it with `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.kind() {
            // The message names the source.
            ErrorKind::Transport { source, .. } => source.source().map(|it| format!(": {it}")),
            _ => self.source().map(|source| format!(": {source:?}")),
        };
        write!(f, "{self}{}", source.unwrap_or_default())
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
            // Displayed by the error itself.
            ErrorKind::Other { source } => source.source(),
            _ => None,
        }
    }
}

/// Why a session, or one of its actions, failed.
///
/// `role` is the role that reports the error, `peer` the role at the other end of the route, and
/// `action` the action that failed. Roles and labels have their names in the protocol.
#[allow(missing_docs, reason = "the fields are explained above, or with their variant")]
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The peer has closed the route.
    ///
    /// The peer was dropped, or its process returned early, failed, panicked or was cancelled.
    /// Messages that it had sent before are delivered first.
    Closed { role: &'static str, peer: &'static str, action: Action },

    /// The process returned the [`End`](crate::states::End) of another session.
    ///
    /// Two sessions of one role type exchanged their ends. Both roles are poisoned, because neither
    /// session can tell how far it has come.
    ForeignEnd { role: &'static str },

    /// The role has completed its sessions, but cannot know if its peers got its last messages,
    /// for example because a connection was lost.
    Leave { role: &'static str, source: BoxError },

    /// The route to the family `peer` leads to `members` members, and the protocol fixes another
    /// number, or the set has another number of them in `run`. Nothing was sent.
    Members { role: &'static str, peer: &'static str, fixed: usize, members: usize },

    /// A route of the role is not where its set put it.
    ///
    /// Two routes of one type were exchanged (`mem::swap`), so messages would reach the wrong role.
    /// `route` is the peer's struct to which the route should lead. `belongs` names the role and
    /// peer of the route, or is `None` if the route, or a whole role in `run`, is from another set.
    /// The peer is empty if a member of a family is not at its index in the `Vec` of its set.
    Misplaced {
        role: &'static str,
        route: &'static str,
        belongs: Option<(&'static str, &'static str)>,
    },

    /// The process gave up: see [`Error::other`].
    Other { source: BoxError },

    /// The session was used outside of its process: in another task, or after the process ended.
    ///
    /// To move a session to another task, use [`Detached`](crate::Detached).
    Outside { role: &'static str },

    /// An earlier session of this role did not return its [`End`](crate::states::End): it failed,
    /// panicked or was cancelled.
    ///
    /// Its messages may still be in flight, so the role cannot begin another session. Reset it
    /// together with its peers: see [`Role::is_poisoned`](crate::Role::is_poisoned).
    Poisoned { role: &'static str },

    /// The role cannot run a second session over the same routes.
    ///
    /// Either one of the two takes whichever of several peers is first, or an interrupt by `peer`
    /// may come when the role has ended, and the route to `peer` does not
    /// [keep sessions apart](crate::transport::Link::keeps_sessions_apart). Or `peer` starts on
    /// demand and has several peers of its own, so calls of two sessions could be confused.
    SecondSession { role: &'static str, peer: &'static str },

    /// The queue to `peer` has room for `capacity` messages only, and its route declares more with
    /// `capacity = …`. The build has proven that the declared room is enough. Nothing was sent.
    SmallQueue { role: &'static str, peer: &'static str, declared: usize, capacity: usize },

    /// The transport failed.
    Transport { role: &'static str, peer: &'static str, action: Action, source: BoxError },

    /// A message arrived that the protocol does not allow here.
    ///
    /// Roles that were verified together never do this: the peer is another program, or uses
    /// another version of the protocol. `role` could receive `legal`. The message is dropped.
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
                "`{role}` has completed its sessions, but cannot know if its peers got its last messages"
            ),
            Self::Members { role, peer, fixed, members } => write!(
                f,
                "`{role}` cannot begin a session: the protocol or the set of roles has {fixed} members of `{peer}`, and \
                 its route leads to {members}"
            ),
            Self::Misplaced { role, route, belongs } => {
                write!(f, "`{role}` cannot begin a session: its route to `{route}` ")?;
                match belongs {
                    Some((role, "")) => write!(f, "belongs to another member of `{role}`"),
                    Some((role, peer)) => write!(f, "belongs to `{role}` and leads to `{peer}`"),
                    None => f.write_str("belongs to another set of roles"),
                }
            }
            Self::Other { source } => fmt::Display::fmt(source, f),
            Self::Outside { role } => write!(
                f,
                "the session of `{role}` was used outside of its process: in another task, or after its process \
                 ended; use `Detached` to move a session to another task"
            ),
            Self::Poisoned { role } => write!(
                f,
                "role `{role}` is poisoned: an earlier session did not reach its end; \
                 reset the role together with its peers"
            ),
            Self::SecondSession { role, peer } => write!(
                f,
                "`{role}` cannot run a second session over the same routes: messages of two sessions could be \
                 confused at `{role}` or `{peer}`; make fresh roles for each session"
            ),
            Self::SmallQueue { role, peer, declared, capacity } => write!(
                f,
                "`{role}` cannot begin a session: its route to `{peer}` declares room for {declared} messages, and its \
                 queue has room for {capacity}; give the queue that room, or declare less, which the build judges"
            ),
            Self::Transport { role, peer, action, source } => {
                failed(f, role, peer, *action)?;
                write!(f, ": the transport failed: {source}")
            }
            Self::Unexpected { role, peer, legal, came } => {
                let legal = any_of(legal);
                write!(f, "`{role}` got `{came}` from `{peer}` but can only receive {legal}")
            }
        }
    }
}

fn failed(f: &mut fmt::Formatter<'_>, role: &str, peer: &str, action: Action) -> fmt::Result {
    match action {
        Action::Receive(labels) => {
            write!(f, "`{role}` cannot receive {} from `{peer}`", any_of(labels))
        }
        Action::Send(label) => write!(f, "`{role}` cannot send `{label}` to `{peer}`"),
    }
}

/// `` `a`, `b` or `c` ``, each name once.
pub(crate) fn any_of<T: PartialEq + fmt::Display>(names: &[T]) -> String {
    let is_first = |&(place, name): &(usize, &T)| !names[..place].contains(name);
    let names = names.iter().enumerate().filter(is_first).map(|(_, name)| format!("`{name}`"));
    let names: Vec<String> = names.collect();
    match &names[..] {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// A failed send, with its label if the transport had not taken it yet.
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

impl_debug!([L] Unsent<L>, "error": |it| it.error, "label_returned": |it| it.label.is_some());

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
