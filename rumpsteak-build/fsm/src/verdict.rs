//! Answers and the limits that keep them finite.

use std::fmt;

/// The answer of a verifier: never a Boolean, because "no" and "not found out" are different
/// answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<S, U> {
    /// It holds; with what it rests on.
    Safe(S),
    /// It does not hold; with the reason.
    Unsafe(U),
    /// A limit ended the search.
    Undecided(Limit),
}

impl<S, U> Verdict<S, U> {
    /// Whether it holds.
    pub fn is_safe(&self) -> bool {
        matches!(self, Self::Safe(_))
    }

    /// The reason why it does not hold.
    pub fn refusal(&self) -> Option<&U> {
        match self {
            Self::Unsafe(refusal) => Some(refusal),
            Self::Safe(_) | Self::Undecided(_) => None,
        }
    }
}

/// How much a verifier may spend. The defaults answer every protocol of the papers; nobody needs to
/// choose a bound to get a right answer, because a limit that is reached is an answer of its own
/// ([`Verdict::Undecided`]).
///
/// ```
/// use rumpsteak_fsm::Limits;
///
/// let limits = Limits::default().configurations(1_000).queue(16);
/// assert_eq!(limits.queue, 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Subtyping: how many actions of the supertype may be pending at once, because the subtype
    /// does others first; for each hundred states of the two machines, or part of it.
    pub anticipation: usize,
    /// Subtyping: how many branching states of the supertype may be passed over at once where
    /// passing them over brings no nearer to the action looked for. Never more than 256 on one
    /// path.
    pub branching: usize,
    /// Exploration: how many configurations of the composed system are visited.
    pub configurations: usize,
    /// Exploration: the longest queue up to which a system is explored whose queues grow for ever.
    pub queue: usize,
    /// Subtyping: how many actions are compared, or looked at or copied while looking ahead.
    pub steps: usize,
    /// Subtyping: where more and more actions of the supertype may be pending, how precisely they
    /// are known: exactly for fewer than this many at either end, roughly in between. Less is tried
    /// first. With 0, no more than [`anticipation`](Self::anticipation) may be pending. Never the
    /// limit that is named: that is one of the exact search.
    pub widening: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            anticipation: 1_000,
            branching: 8,
            configurations: 100_000,
            queue: 64,
            steps: 1_000_000,
            widening: 4,
        }
    }
}

impl Limits {
    /// As much as two machines with so many states together are worth.
    pub(crate) fn for_states(self, states: usize) -> Self {
        let anticipation = self.anticipation.saturating_mul(states.div_ceil(100).max(1));
        Self { anticipation, ..self }
    }

    /// As much as a warning about a system of so many machines is worth: 20,000 states of machines
    /// in its configurations.
    #[must_use]
    pub fn for_a_warning(self, machines: usize) -> Self {
        let configurations = self.configurations.min(20_000 / machines.max(1));
        Self { configurations, ..self }
    }
}

macro_rules! setters {
    ($($limit:ident)*) => {
        impl Limits {
            $(
                #[doc = concat!("Sets [`", stringify!($limit), "`](field@Self::", stringify!($limit), ").")]
                #[must_use]
                pub fn $limit(mut self, most: usize) -> Self {
                    self.$limit = most;
                    self
                }
            )*
        }
    };
}

setters! { anticipation branching configurations queue steps widening }

/// The limit that ended a search, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::anticipation`].
    Anticipation(usize),
    /// [`Limits::branching`].
    Branching(usize),
    /// [`Limits::configurations`].
    Configurations(usize),
    /// [`Limits::queue`].
    Queue(usize),
    /// [`Limits::steps`].
    Steps(usize),
}

impl Limit {
    /// The field of [`Limits`] that sets it.
    pub fn setting(self) -> &'static str {
        self.parts().0
    }

    /// Its value.
    pub fn value(self) -> usize {
        self.parts().1
    }

    fn parts(self) -> (&'static str, usize) {
        match self {
            Self::Anticipation(value) => ("anticipation", value),
            Self::Branching(value) => ("branching", value),
            Self::Configurations(value) => ("configurations", value),
            Self::Queue(value) => ("queue", value),
            Self::Steps(value) => ("steps", value),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (setting, value) = self.parts();
        match self {
            Self::Anticipation(_) => write!(f, "more than {value} actions would be pending"),
            Self::Branching(_) => {
                write!(f, "more than {value} choices of the supertype would be passed over at once")
            }
            Self::Configurations(_) => write!(f, "the system has more than {value} configurations"),
            Self::Queue(_) => write!(f, "a queue would hold more than {value} messages"),
            Self::Steps(_) => write!(f, "more than {value} actions would have to be compared"),
        }?;
        write!(f, " (limit `{setting}`)")
    }
}
