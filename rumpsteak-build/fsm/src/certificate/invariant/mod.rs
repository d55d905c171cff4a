//! Invariants: certificates in which a *set* of pending words is known for each kind of action.
//!
//! If more and more is pending, no finite set of situations is closed under the subtype's actions.
//! But a finite set of [`Judgement`]s may be, each of which stands for infinitely many situations:
//!
//! ```text
//!   q, s, (Lₖ)ₖ      the subtype is in state q, the supertype in state s, and the supertype's actions
//!                    that the subtype has not done yet are, for each kind k (a peer and a direction,
//!                    p? or p!), a word of Lₖ
//! ```
//!
//! Each judgement comes with the [`Step`] that is applied to it, and the judgements of its goals:
//!
//! ```text
//!   T  = rec X. p!ok. p!ok. p?data. X         two answers for each question that is read
//!   T′ = rec Y. p?data. p!ok. Y
//!
//!                    p?        rank     rule      goes on with
//!   0:   X     Y     –                  Ahead     1
//!   1:   X     Y.2   data⁺     3        Match     2
//!   2:   X.2   Y     data⁺     2        Ahead     3
//!   3:   X.2   Y.2   data⁺     1        Match     4
//!   4:   X.3   Y     data⁺     0        Take      0, 5      one was pending, or more were
//!   5:   X     Y     data⁺     4        Ahead     1
//! ```
//!
//! Letters are the supertype's transitions. [`Words`] are one word, or all words of more than m
//! letters that begin and end with certain m letters and have only certain *windows* of m + 1
//! letters in between. Here m = 0, and `data⁺` has the window `data` only.
//!
//! # Why an invariant that is accepted proves `T ≤ T′`
//!
//! As for a [derivation](super::derivation): let U be any single-output tree of T, and V′ any
//! single-input tree of T′. They tell which goal to follow if a rule has several, so there is one
//! way through the judgements, from judgement 0 on. Along it we read off W, W′ and how they match.
//!
//! *Judgements describe the way.* At each point of it let q be the state of T and s the state of
//! T′, and call the actions of W′ that are named and not matched yet *pending*: a sequence. For
//! each kind, its actions of this kind are a word of the judgement's Lₖ. So it is at the start:
//! nothing is pending, and judgement 0 must say just that
//! ([`Fault::Initial`](super::Fault::Initial)). So it stays: each rule computes from the Lₖ sets
//! that contain the words after it (*append* and *take off*, below), and the judgement of a goal
//! must have the same states and, for each kind, a set that contains these
//! ([`Fault::OtherClaim`](super::Fault::OtherClaim)). A kind that is not listed has nothing
//! pending; a kind that is listed has, because no set contains the empty word.
//!
//! *Each rule is right.*
//!
//! | rule | if q and s are as described | checked |
//! |---|---|---|
//! | `End` | nothing is left to do: \[ref-end\] | q and s end, nothing is pending |
//! | `Match` | both do an action of kind k. Before it in W′ are the pending actions: for an output no outputs to the same peer (\[ref-out\], \[ref-B\]), for an input only inputs from others (\[ref-in\], \[ref-A\]) | q and s both do kind k, none of it is pending; for inputs, no output is pending at all. U chooses among outputs, so each of q must be one of s; V′ chooses among inputs, so each of s must be one of q |
//! | `Take` | the first pending action of its kind k is done. Before it are pending actions, as for `Match` | q does k, and it is pending; for inputs, no output is. Every possible first letter is what q does: one of its inputs, or its only output |
//! | `Ahead` | the next action of W′ is named | s receives: V′ chooses, one goal for each. Or s has a single output: there is nothing else to choose |
//!
//! How pending actions of different kinds are interleaved is not known, and no rule asks: `Match`
//! and `Take` do the first action of a kind, and an input is only done while no output is pending.
//! Actions are compared with their sorts.
//!
//! *Appending* a letter to one word gives one word. To a set of the other form: its last m letters
//! with the new one are one more window, and the end moves on by one. *Taking off* the first letter
//! of one word leaves one word, or nothing. A word w of the other form begins with some window v
//! among those that begin with the set's first m letters. Its first letter is v's, and the rest
//! begins with the other m letters of v. The rest may have m letters: then it is these, and it is
//! the end as well. Or it has more: then it still ends as w does, and its windows are windows of w.
//! They lie one after the other on a way from its first m letters to its last m, each window
//! shifted by one letter; so windows that lie on no such way are not among them. There is a goal
//! for each v and each of both cases. *A set contains another* if, for one word, it is that word or
//! that word begins, ends and goes on as the set says; and, for two sets of the other form, if they
//! begin and end alike and each window of one is of the other.
//!
//! *Nothing is stuck.* A rule that does not apply is a fault. So the way goes on until `End`, or
//! for ever.
//!
//! *Nothing is put off for ever.* At `End` nothing is pending. On a way without end, suppose some
//! action a of kind k stays pending from some point on. Whenever k is taken, the first letter goes,
//! and finitely many are before a; so k is taken finitely often. After that, kind k is pending at
//! each judgement and never taken; and a step that does not take a pending kind must lower its rank
//! ([`Fault::Rank`](super::Fault::Rank)). Ranks are natural numbers: contradiction. So everything
//! that is ever pending is matched. In particular the way is not `Ahead` from some point on, so W
//! is infinite. Nor is it `Take` from some point on, for that shortens what is pending; so W′ is
//! infinite, and all its actions are matched. Hence act(W) = act(A.W′) and act(W) = act(B.W′)
//! wherever the rules of ≲ ask for it.
//!
//! The two machines are [directed](crate::Fsm::check_directed), which is checked first.
//!
//! # Cost
//!
//! For each goal the windows of the judgement it comes from, times the logarithm of their number.

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
