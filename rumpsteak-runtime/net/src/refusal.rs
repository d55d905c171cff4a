//! Why two ends do not come together.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why two ends do not come together.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub enum Refusal {
    /// Who is at the other end may not play that role.
    Certificate,
    /// Their messages are written by different codecs: these.
    Codec([String; 2]),
    /// The message type of one of them is a struct, and that of the other one is another type:
    /// their labels.
    Labels([String; 2]),
    /// What came is no greeting of this version.
    NoGreeting,
    /// They follow different versions of the protocol: what differs.
    Protocol(String),
    /// Another end has that role in that session.
    Taken,
    /// There is no transport that both take: those of the one that calls, if it says so, and those
    /// of the other.
    Transport([String; 2]),
    /// A type in their messages, of this name, has other fields or variants in one than in the
    /// other, or has them in another order; or, within one process, it is another type.
    Type(String),
    /// Nobody there plays this role in this session.
    Unknown,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate => f.write_str("its certificate is not one for this role"),
            Self::Codec([one, other]) => {
                write!(f, "one writes messages by the codec `{one}`, the other by `{other}`")
            }
            Self::Labels([one, other]) => write!(
                f,
                "their message types differ: the labels of one are `{one}`, those of the other `{other}`"
            ),
            Self::NoGreeting => {
                f.write_str("what came is no greeting of this version of rumpsteak-net")
            }
            Self::Protocol(difference) => {
                write!(
                    f,
                    "they were verified against different versions of the protocol: {difference}"
                )
            }
            Self::Taken => f.write_str("the role is taken in this session"),
            Self::Transport([own, theirs]) => {
                write!(f, "one talks over these transports: {own}; the other over these: {theirs}")
            }
            Self::Type(name) => write!(
                f,
                "the type `{name}` in their messages is not the same: between processes, its fields or variants \
                 must have the same names, types and order; within one, it must be one type"
            ),
            Self::Unknown => f.write_str("nobody there plays this role in this session"),
        }
    }
}
