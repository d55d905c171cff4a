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

macro_rules! faults {
    ($($name:ident: $text:literal,)*) => {
        /// A fault of a certificate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Fault {
            $(#[doc = $text] $name,)*
        }

        impl fmt::Display for Fault {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $text,)* })
            }
        }
    };
}

faults! {
    NotDirected: "a machine is not a local type",
    Initial: "the first claim is missing, or not about the initial states",
    Unknown: "something is named that does not exist",
    NoWords: "what is pending is not written as a set of words",
    TooDeep: "choices are too deep inside each other",
    NoGoal: "more is proved than there are goals",
    OpenGoal: "a goal is left",
    WrongRule: "the rule does not apply to the goal",
    Order: "the action is not what the supertype does next of its kind",
    NotHandled: "a message that may come is not received",
    LeftOut: "an option of the supertype is left out",
    OtherClaim: "the goal is not the claim that is assumed",
    NoProgress: "nothing is done before a claim is assumed",
    Rank: "something may stay pending for ever",
}

impl Invalid {
    pub(super) fn at(situation: usize, rule: usize, fault: Fault) -> Self {
        Self { situation, rule, fault }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { situation, rule, fault } = self;
        write!(f, "the certificate is not valid at rule {rule} of situation {situation}: {fault}")
    }
}

impl Error for Invalid {}
