//! Verdicts, and the limits of a search.

use std::fmt;

/// The answer of a verifier. Not a `bool`, because "no" and "not known" are different answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<S, U> {
    /// It holds, for this reason.
    Safe(S),
    /// It does not hold, for this reason.
    Unsafe(U),
    /// A limit ended the search.
    Undecided(Limit),
}

impl<S, U> Verdict<S, U> {
    /// True if it holds.
    pub fn is_safe(&self) -> bool {
        matches!(self, Self::Safe(_))
    }

    /// The reason why it does not hold.
    pub fn refusal(&self) -> Option<&U> {
        let Self::Unsafe(refusal) = self else { return None };
        Some(refusal)
    }
}

/// The limits of a verifier. The defaults suffice for every protocol of the papers. A limit that is
/// reached is an answer of its own ([`Verdict::Undecided`]), so no user has to choose one.
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
    /// Subtyping: how many actions of the supertype may be pending at once, for each hundred states
    /// of the two machines.
    pub anticipation: usize,
    /// Subtyping: how many choices of the supertype may be passed over at once that lead no nearer
    /// to the wanted action. At most 256 on a path.
    pub branching: usize,
    /// Exploration: how many configurations of the system are visited.
    pub configurations: usize,
    /// Exploration: the longest queue, if queues grow for ever.
    pub queue: usize,
    /// Subtyping: how many actions are compared, inspected or copied.
    pub steps: usize,
    /// Subtyping: if more and more actions may be pending, fewer than this many are known exactly
    /// at either end. With 0, [`anticipation`](Self::anticipation) is the limit. Never the limit
    /// that is named.
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
    /// The limits for a warning about a system of so many machines: 20,000 states of machines in
    /// its configurations.
    #[must_use]
    pub fn for_a_warning(self, machines: usize) -> Self {
        Self { configurations: self.configurations.min(20_000 / machines.max(1)), ..self }
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

    /// The setting, its value, and the words behind "more than (value)".
    fn parts(self) -> (&'static str, usize, &'static str) {
        match self {
            Self::Anticipation(value) => ("anticipation", value, "actions would be pending"),
            Self::Branching(value) => {
                ("branching", value, "choices of the supertype would be passed over at once")
            }
            Self::Configurations(value) => ("configurations", value, "configurations"),
            Self::Queue(value) => ("queue", value, "messages"),
            Self::Steps(value) => ("steps", value, "actions would have to be compared"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = match self {
            Self::Configurations(_) => "the system has ",
            Self::Queue(_) => "a queue would hold ",
            _ => "",
        };
        let (setting, value, rest) = self.parts();
        write!(f, "{subject}more than {value} {rest} (limit `{setting}`)")
    }
}
