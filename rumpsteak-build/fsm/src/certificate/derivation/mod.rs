#![doc = include_str!("derivation.md")]

pub(super) mod check;

use crate::machine::{StateId, TransitionId};

/// How deep open choices may be nested.
pub const DEEPEST: usize = 512;

/// The evidence for `sub ≤ sup`, in the ids of the two machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derivation {
    /// The claims; the first one is about the initial states.
    pub situations: Vec<Situation>,
}

/// A claim, and its derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Situation {
    /// A state of the subtype.
    pub state: StateId,
    /// The actions that the supertype still has to do.
    pub tree: Tree,
    /// The derivation, in preorder: each rule is applied to the first goal that is open.
    pub rules: Vec<Inference>,
    /// The reason why each loop of claims does every pending action. A kind is written as a
    /// transition of the supertype of this kind; other kinds have rank 0. From here to a claim that
    /// is assumed, the rank of each kind that is pending here falls, unless an action of the kind
    /// is done on the way.
    pub ranks: Vec<(TransitionId, u32)>,
}

/// The actions that the supertype still has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Transitions of the supertype whose actions are promised and not yet done.
    pub spine: Vec<TransitionId>,
    /// The continuation behind the spine.
    pub tail: Tail,
}

/// The continuation of a spine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The supertype goes on from this state.
    State(StateId),
    /// An open choice between outputs of the supertype to one peer: each alternative begins with
    /// the action of a transition.
    Choice(Vec<(TransitionId, Tree)>),
}

/// A step of a derivation. Paths lead down a tree: the number of the alternative at each choice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inference {
    /// Both are finished. No goal is left of this one.
    End,
    /// The subtype sends. One goal for each of its transitions, in order; each of them is to be
    /// taken next.
    Choose,
    /// The supertype's state at the end of the branch at this path is unfolded. If it receives: one
    /// goal for each of its transitions, in order. If it sends: one goal, with its only transition
    /// on the spine, or else with an open choice of all of them.
    Unfold(Vec<u32>),
    /// Alternative `at.last()` of the open choice at the path before it is not chosen. One goal. If
    /// one alternative is left, the choice is made, and it prolongs the spine before it.
    Drop(Vec<u32>),
    /// The chosen output, or else the input that is promised, is done by both. One goal.
    Take,
    /// The goal is the claim with this number. No goal is left of this one.
    Assume(u32),
}
