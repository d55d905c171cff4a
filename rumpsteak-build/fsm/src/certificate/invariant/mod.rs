#![doc = include_str!("invariant.md")]

pub(super) mod check;
pub mod fair;
mod words;

use crate::machine::{StateId, TransitionId};

/// The evidence for `sub ≤ sup` where more and more may be pending, in the ids of the two machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invariant {
    /// The judgements; the first one is about the initial states, with nothing pending.
    pub judgements: Vec<Judgement>,
}

/// A set of situations, and the judgements that contain all situations after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// A state of the subtype.
    pub sub: StateId,
    /// A state of the supertype.
    pub sup: StateId,
    /// The kinds with pending actions: each once, in any order.
    pub pending: Vec<Pending>,
    /// The rule that is applied.
    pub rule: Step,
    /// The judgements of the rule's goals, in order.
    pub next: Vec<u32>,
}

/// The pending actions of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The possible sequences.
    pub words: Words,
    /// Falls from here to the next judgement, unless an action of the kind is done by
    /// [`Step::Take`].
    pub rank: u32,
}

/// A set of words of transitions of the supertype that all do actions of one kind; never empty
/// words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// One word.
    Exactly(Vec<TransitionId>),
    /// All words with these ends and windows.
    Between(Between),
}

/// All words of more than m letters, for some m, that begin with `first`, end with `last` and have
/// only windows from `windows`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// m letters.
    pub first: Vec<TransitionId>,
    /// m letters.
    pub last: Vec<TransitionId>,
    /// At least one, of m + 1 letters each.
    pub windows: Vec<Vec<TransitionId>>,
}

/// A rule that is applied to a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Both are finished. No goals.
    End,
    /// Both do an action of one kind that has nothing pending. One goal for each output of the
    /// subtype, or each input of the supertype, in order.
    Match,
    /// The subtype does the first pending action of its kind. For one word, one goal. Otherwise,
    /// for each window that the word may begin with, in order: a goal for the case that it is all
    /// of the word, if it can be, and then one for the case that the word goes on, if it can.
    Take,
    /// The supertype's next action is pending from now on. One goal for each of its transitions, in
    /// order.
    Ahead,
}
