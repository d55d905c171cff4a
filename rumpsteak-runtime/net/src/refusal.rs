//! Why two ends do not come together.

use serde::{Deserialize, Serialize};

/// How many bytes a name in a greeting has at most: hosts remember some.
pub(crate) const LONGEST_NAME: usize = 256;

/// Why two ends do not come together.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Who is at the other end may not play that role.
    #[error("its certificate is not one for this role")]
    Certificate,
    /// Their messages are written by different codecs: these.
    #[error("one writes messages by the codec `{}`, the other by `{}`", .0[0], .0[1])]
    Codec([String; 2]),
    /// The message type of one of them is a struct, and that of the other one is another type:
    /// their labels.
    #[error(
        "their message types differ: the labels of one are `{}`, those of the other `{}`", .0[0], .0[1]
    )]
    Labels([String; 2]),
    /// What came is no greeting of this version.
    #[error("what came is no greeting of this version of rumpsteak-net")]
    NoGreeting,
    /// They follow different versions of the protocol: what differs.
    #[error("they were verified against different versions of the protocol: {0}")]
    Protocol(String),
    /// Another end has that role in that session.
    #[error(
        "has this role in this session already: another process plays it, or this one did before it \
         was started again"
    )]
    Taken,
    /// There is no transport that both take: those of the one that calls, if it says so, and those
    /// of the other.
    #[error("one talks over these transports: {}; the other over these: {}", .0[0], .0[1])]
    Transport([String; 2]),
    /// A type in their messages, of this name, has other fields or variants in one than in the
    /// other, or has them in another order; or, within one process, it is another type.
    #[error(
        "the type `{0}` in their messages is not the same: between processes, its fields or variants \
         must have the same names, types and order; within one, it must be one type"
    )]
    Type(String),
    /// Nobody there plays this role in this session.
    #[error("nobody there plays this role in this session")]
    Unknown,
    /// Nobody there has this session, which had begun: the role has left it, or was started again.
    #[error("has this session no more, and may have been started again")]
    Gone,
    /// The role has joined a session of this name anew, as a process does that was started again.
    #[error("was started again: this session went with the process before it")]
    StartedAgain,
    /// A name in the greeting is longer than 256 bytes.
    #[error(
        "a name in the greeting, such as that of the session, is longer than {LONGEST_NAME} bytes"
    )]
    Name,
}
