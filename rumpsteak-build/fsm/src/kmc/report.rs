//! The answers of k-MC about a system.

use std::fmt;

use crate::machine::{Defect, Role, TransitionId};
use crate::system::{Run, Step};
use crate::verdict::Limit;

/// The result of [`check`](super::check).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// Why smaller bounds say nothing about larger ones, for the first part that is undecided.
    /// `None` if the budget did not suffice for it.
    pub obstacle: Option<Obstacle>,
    /// Every property, for each part of the system at the bound that decided it or the last one
    /// tried.
    pub properties: Properties,
}

/// The verdict about a system with unbounded queues.
///
/// Safe: the least k for which the system is k-MC, or no queue holds more than k messages. With
/// several parts, the largest of their bounds. Not the least if the budget ends the search for it.
///
/// Unsafe: a shortest run, unless [`Limits::configurations`](crate::Limits::configurations) are too
/// few.
pub type Verdict = crate::verdict::Verdict<usize, Box<Run>>;

/// Why the properties of a system at a bound say nothing about larger bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// The bound matters: a send stays blocked (not k-exhaustive), or the next message of a role
    /// depends on it (not k-OBI, or neither k-SIBI nor k-CIBI).
    Bound(Witness),
    /// A machine both sends and receives in one state, or has two transitions with one action and
    /// different targets.
    Machine(Role, Defect),
}

/// The obstacle, and what to do about it.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bound(Witness { flaw, .. }) => {
                let way_out = match flaw {
                    Flaw::Blocked(..) => {
                        "let it wait for an answer before it sends on, or raise the limit"
                    }
                    _ => "let one peer decide, and tell the others after it",
                };
                write!(f, "{flaw}; {way_out}")
            }
            Self::Machine(role, defect) => write!(f, "the machine of `{role}`: {defect}"),
        }
    }
}

/// The properties of a system at a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// The bound k.
    pub bound: usize,
    /// The first state that both sends and receives.
    pub mixed: Option<(Role, Defect)>,
    /// The first state that two transitions with one action leave for different states.
    pub nondeterministic: Option<(Role, Defect)>,
    /// The first state that chooses between peers.
    pub undirected: Option<(Role, Defect)>,
    /// k-exhaustive.
    pub exhaustive: Property,
    /// The first half of k-safe: a waiting machine can move eventually.
    pub progress: Property,
    /// The second half of k-safe: the head of a queue can be received eventually.
    pub reception: Property,
    /// k-OBI.
    pub obi: Property,
    /// k-IBI.
    pub ibi: Property,
    /// k-SIBI.
    pub sibi: Property,
    /// k-CIBI.
    pub cibi: Property,
    /// The number of explored configurations.
    pub configurations: usize,
}

impl Properties {
    /// True if each state sends to one peer or receives from one peer.
    pub fn is_directed(&self) -> bool {
        self.mixed.is_none() && self.undirected.is_none()
    }
}

/// The answer about a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Property {
    /// The property holds.
    #[default]
    Holds,
    /// The property fails here.
    Fails(Witness),
    /// A limit ended the search.
    Unknown(Limit),
}

impl Property {
    /// True if the property holds, false if it fails.
    pub fn holds(&self) -> Option<bool> {
        match self {
            Self::Holds => Some(true),
            Self::Fails(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

/// A run within the bound to where a property fails. A shortest one without
/// [reduction](crate::kmc::Reduction::None).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The steps of the run.
    pub steps: Vec<Step>,
    /// The flaw at its end.
    pub flaw: Flaw,
}

/// A flaw of a configuration at a bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// Not exhaustive: the send stays blocked until its role moves otherwise, which may be never.
    Blocked(Role, TransitionId),
    /// Not IBI, SIBI or CIBI: the role can receive the first, and the second from another queue now
    /// or after the first.
    Competing(Role, TransitionId, TransitionId),
    /// No eventual reception: the next message in the queue from the first role to the second is
    /// never received.
    Lost(Role, Role),
    /// Not OBI: the first send of the role is possible, and the second is blocked.
    Partial(Role, TransitionId, TransitionId),
    /// No progress: the role never moves again.
    Waits(Role),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked(role, _) => write!(f, "{role} is blocked by a full queue"),
            Self::Competing(role, ..) => {
                write!(f, "{role} can receive from two queues, whichever comes first")
            }
            Self::Lost(from, to) => write!(f, "{to} never receives the message from {from}"),
            Self::Partial(role, ..) => {
                write!(f, "{role} can do one of its sends, and another is blocked by a full queue")
            }
            Self::Waits(role) => write!(f, "{role} waits for ever"),
        }
    }
}
