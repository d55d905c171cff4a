//! What is wrong with a certificate.

use std::error::Error;
use std::fmt;

/// Why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The faulty situation or judgement.
    pub situation: usize,
    /// The faulty rule, or the number of rules if no single rule is at fault. In an invariant, the
    /// faulty goal of its one rule.
    pub rule: usize,
    /// The fault.
    pub fault: Fault,
}

/// A fault of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// One of the machines does not stand for a local type.
    NotDirected,
    /// The first claim is missing, or not about the initial states.
    Initial,
    /// A state, transition, situation or path that does not exist.
    Unknown,
    /// The pending words are not written as a set of words: see [`Words`](super::invariant::Words).
    NoWords,
    /// Choices are nested beyond [`DEEPEST`](super::derivation::DEEPEST).
    TooDeep,
    /// There are rules, or claims that are assumed, after the last goal.
    NoGoal,
    /// There are goals after the last rule, or after the last claim that is assumed.
    OpenGoal,
    /// The rule is for another kind of goal.
    WrongRule,
    /// The action is not pending, or it may not overtake an earlier one, or it is another action.
    Order,
    /// The peer may send a message that the subtype does not receive.
    NotHandled,
    /// In the fair relation, the subtype does not have every option of the supertype.
    LeftOut,
    /// The goal is another one than the claim that is assumed.
    OtherClaim,
    /// Nothing was done before a claim is assumed.
    NoProgress,
    /// Something that is pending is not done, and its rank does not fall.
    Rank,
}

impl Invalid {
    pub(super) fn at(situation: usize, rule: usize, fault: Fault) -> Self {
        Self { situation, rule, fault }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotDirected => "a machine is not a local type",
            Self::Initial => "the first claim is not that of the initial states",
            Self::Unknown => "something is named that does not exist",
            Self::NoWords => "what is pending is not written as a set of words",
            Self::TooDeep => "choices are too deep inside each other",
            Self::NoGoal => "more is proved than there are goals",
            Self::OpenGoal => "a goal is left",
            Self::WrongRule => "the rule does not apply to the goal",
            Self::Order => "the action is not what the supertype does next of its kind",
            Self::NotHandled => "a message that may come is not received",
            Self::LeftOut => "an option of the supertype is left out",
            Self::OtherClaim => "the goal is not the claim that is assumed",
            Self::NoProgress => "nothing is done before a claim is assumed",
            Self::Rank => "something may stay pending for ever",
        })
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { situation, rule, fault } = self;
        write!(f, "the certificate is not valid at rule {rule} of situation {situation}: {fault}")
    }
}

impl Error for Invalid {}
