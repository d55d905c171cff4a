//! What k-MC says about a system.

use std::fmt;

use crate::machine::{Defect, Role, TransitionId};
use crate::system::run::{Run, Step};
use crate::verdict::Limit;

/// What was found out about a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether it is safe.
    pub verdict: Verdict,
    /// Every property by itself, of each part of the system at the bound that decided it, or at the
    /// last one tried.
    pub properties: Properties,
}

/// Whether a system is safe, with unbounded queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Safe {
        /// The least k at which this was found: the system is k-MC, or no queue ever holds more
        /// than k messages. Of several parts that do not talk to each other, the largest of their
        /// least bounds. If the budget ends while a smaller bound is looked for, it is not the
        /// least.
        bound: usize,
    },
    /// It is not.
    ///
    /// The run to where it goes wrong is a shortest one, unless
    /// [`Limits::configurations`](crate::Limits::configurations) are too few to find that.
    Unsafe(Box<Run>),
    /// It was not found out.
    Undecided {
        /// The limit that ended the search.
        limit: Limit,
        /// Why the bounds up to it say nothing about larger ones. `None` if the budget did not
        /// suffice for one.
        obstacle: Option<Obstacle>,
    },
}

/// Why the properties of a system at a bound say nothing about larger bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// It is not k-exhaustive: a send stays blocked, as queues of length k are too short for it.
    Blocked(Witness),
    /// It is not k-OBI, or neither k-SIBI nor k-CIBI: which message a role sends or receives next
    /// depends on the bound.
    Dependent(Witness),
    /// A machine both sends and receives in one state.
    Mixed(Role, Defect),
    /// A machine has two transitions with one action, which lead to different states.
    Nondeterministic(Role, Defect),
}

/// What is in the way, and what to do about it.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked(witness) => write!(
                f,
                "{}; let it wait for an answer before it sends on, or raise the limit",
                witness.flaw
            ),
            Self::Dependent(witness) => {
                write!(f, "{}; let one peer decide, and tell the others after it", witness.flaw)
            }
            Self::Mixed(role, defect) | Self::Nondeterministic(role, defect) => {
                write!(f, "the machine of `{role}`: {defect}")
            }
        }
    }
}

/// The properties of a system at a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The bound k.
    pub bound: usize,
    /// The first state that both sends and receives; `None` for communicating session automata,
    /// which in the paper are [deterministic](Self::nondeterministic) besides.
    pub mixed: Option<(Role, Defect)>,
    /// The first state that two transitions with one action leave for different states.
    pub nondeterministic: Option<(Role, Defect)>,
    /// The first state that chooses between peers.
    pub undirected: Option<(Role, Defect)>,
    /// k-exhaustive.
    pub exhaustive: Property,
    /// The first half of k-safe: who waits can move sooner or later.
    pub progress: Property,
    /// The second half of k-safe: what is at the head of a queue can be received sooner or later.
    pub reception: Property,
    /// k-OBI.
    pub obi: Property,
    /// k-IBI.
    pub ibi: Property,
    /// k-SIBI.
    pub sibi: Property,
    /// k-CIBI.
    pub cibi: Property,
    /// How many configurations were met.
    pub configurations: usize,
}

impl Properties {
    /// Whether each state sends to one peer or receives from one peer: *basic* in the paper's tool.
    pub fn is_directed(&self) -> bool {
        self.mixed.is_none() && self.undirected.is_none()
    }

    /// k-safe: both halves.
    pub fn is_safe(&self) -> Option<bool> {
        Some(self.progress.holds()? && self.reception.holds()?)
    }
}

/// The answer about a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Property {
    /// It does.
    Holds,
    /// It does not.
    Fails(Witness),
    /// A limit ended the search.
    Unknown(Limit),
}

impl Property {
    /// Whether it holds, if that is known.
    pub fn holds(&self) -> Option<bool> {
        match self {
            Self::Holds => Some(true),
            Self::Fails(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

/// Where a property fails: a run within the bound, and what is wrong at its end.
///
/// Without [reduction](crate::kmc::Reduction::None) it is a shortest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// What is wrong then.
    pub flaw: Flaw,
}

/// What is wrong with a configuration at a bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// The send does not become possible before its role moves otherwise; which it may never do.
    /// Not exhaustive.
    Blocked {
        /// The role.
        role: Role,
        /// The send.
        send: TransitionId,
    },
    /// The role can receive the first, and the second from another queue now or after the first.
    /// Not IBI, SIBI, CIBI.
    Competing {
        /// The role.
        role: Role,
        /// A reception that is possible.
        first: TransitionId,
        /// One from another queue that competes with it.
        second: TransitionId,
    },
    /// The next message of the queue is never received. No eventual reception.
    Lost {
        /// Who sent it.
        from: Role,
        /// Who does not receive it.
        to: Role,
    },
    /// Of two sends of the role one is possible and the other is blocked. Not OBI.
    Partial {
        /// The role.
        role: Role,
        /// The send that is possible.
        possible: TransitionId,
        /// The send that is not.
        blocked: TransitionId,
    },
    /// The role never moves again. No progress.
    Waits {
        /// The role.
        role: Role,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked { role, .. } => write!(f, "{role} is blocked by a full queue"),
            Self::Competing { role, .. } => {
                write!(f, "{role} can receive from two queues, whichever comes first")
            }
            Self::Lost { from, to } => write!(f, "{to} never receives the message from {from}"),
            Self::Partial { role, .. } => {
                write!(f, "{role} can do one of its sends, and another is blocked by a full queue")
            }
            Self::Waits { role } => write!(f, "{role} waits for ever"),
        }
    }
}
