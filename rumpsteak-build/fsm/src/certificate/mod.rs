//! Certificates: what a "yes" of subtyping rests on, as a value that can be checked without the engine that found it.
//!
//! ```text
//!   T ≤ T′      if   check(certificate, T, T′) = Ok(())
//! ```
//!
//! There is one form for each engine, and both are sets of claims about *situations*: the subtype is in a state, and what
//! the supertype does before some point is pending, because the subtype does other actions first.
//!
//! | form | what is pending is known | for |
//! |---|---|---|
//! | [`derivation`] | action by action, with open choices | whatever has a bound |
//! | [`invariant`] | as a set of words for each peer and direction | anticipation without bound |
//!
//! Each module opens with its argument: why a certificate that is accepted proves the relation. The checkers share no code with the engines,
//! nor with each other. Trust in a "safe" rests on these two pages.

pub mod derivation;
pub mod invariant;

use std::{error::Error, fmt};

use crate::machine::Fsm;

pub use self::{derivation::Derivation, invariant::Invariant};

/// The evidence for `sub ≤ sup`, in the ids of the two machines; [`check`] tells whether it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// What is pending is known.
    Derivation(Derivation),
    /// Of what is pending, a set is known.
    Invariant(Invariant),
}

impl From<Derivation> for Certificate {
    fn from(derivation: Derivation) -> Self {
        Self::Derivation(derivation)
    }
}

impl From<Invariant> for Certificate {
    fn from(invariant: Invariant) -> Self {
        Self::Invariant(invariant)
    }
}

/// Checks that `certificate` proves `sub ≤ sup`.
///
/// ```
/// use rumpsteak_fsm::{Limits, Verdict, certificate, dot, subtype};
///
/// let sup = dot::parse(r#"digraph b { 0 -> 1 [label="a?v"]; 1 -> 0 [label="c!v"] }"#)?.remove(0);
/// let sub = dot::parse(r#"digraph b { 0 -> 1 [label="c!v"]; 1 -> 0 [label="a?v"] }"#)?.remove(0);
///
/// let Verdict::Safe(proof) = subtype::check(&sub, &sup, &Limits::default())? else {
///     return Err("sending first is safe".into());
/// };
/// let certificate = proof.certificate();
/// assert_eq!(certificate::check(&certificate, &sub, &sup), Ok(()));
/// // It is none for the opposite.
/// assert!(certificate::check(&certificate, &sup, &sub).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first [`Invalid`] claim, in the order of the certificate.
pub fn check(certificate: &Certificate, sub: &Fsm, sup: &Fsm) -> Result<(), Invalid> {
    match certificate {
        Certificate::Derivation(derivation) => derivation::check(derivation, sub, sup),
        Certificate::Invariant(invariant) => invariant::check(invariant, sub, sup),
    }
}

/// Why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// In which situation or judgement.
    pub situation: usize,
    /// At which of its rules, or at their number if the fault is none of a rule. In an invariant, at which goal of its one rule.
    pub rule: usize,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// One of the machines stands for no local type.
    NotDirected,
    /// There is no first claim, or it is not that of the initial states.
    Initial,
    /// A state, transition, situation or path that does not exist.
    Unknown,
    /// What is written as a set of pending words is none: see [`invariant::Words`].
    NoWords,
    /// Choices inside each other beyond [`derivation::DEEPEST`].
    TooDeep,
    /// There are rules, or claims that are assumed, after the last goal.
    NoGoal,
    /// There are goals after the last rule, or after the last claim that is assumed.
    OpenGoal,
    /// The rule is for another kind of goal: the subtype or the supertype does something else in this state.
    WrongRule,
    /// The action is not pending, or something that it may not overtake is before it, or it is another action.
    Order,
    /// The peer may send a message that the subtype does not receive.
    NotHandled,
    /// The goal is another one than the claim that is assumed.
    OtherClaim,
    /// Nothing was done before a claim is assumed.
    NoProgress,
    /// Something that is pending is not done, and its rank does not fall.
    Rank,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotDirected => "a machine is no local type",
            Self::Initial => "the first claim is not that of the initial states",
            Self::Unknown => "something is named that does not exist",
            Self::NoWords => "what is pending is not written as a set of words",
            Self::TooDeep => "choices are too deep inside each other",
            Self::NoGoal => "more is proved than there are goals",
            Self::OpenGoal => "a goal is left",
            Self::WrongRule => "the rule does not apply to the goal",
            Self::Order => "the action is not what the supertype does next of its kind",
            Self::NotHandled => "a message that may come is not received",
            Self::OtherClaim => "the goal is not the claim that is assumed",
            Self::NoProgress => "nothing is done before a claim is assumed",
            Self::Rank => "something may stay pending for ever",
        })
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            situation,
            rule,
            fault,
        } = self;
        write!(
            f,
            "the certificate is not valid at rule {rule} of situation {situation}: {fault}"
        )
    }
}

impl Error for Invalid {}
