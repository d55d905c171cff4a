//! Derivations: certificates in which the pending actions are known one by one.
//!
//! A derivation is a finite set of [`Situation`]s. Each claims that a state q of the subtype may go
//! on where the supertype still has to do a *tree*: a spine of promised actions, and behind it a
//! state of the supertype, or a choice between outputs that the subtype overtook before it made it.
//! Each comes with the rules that prove the claim from claims of the same derivation, in preorder,
//! as one writes a derivation with a stack of goals:
//!
//! ```text
//!   claim 0:  q0 ≤ ⟨ε, p0⟩     Choose   the goals are all outputs of q0: here one, s!ready
//!                              Unfold   the supertype's next action, s!ready, is promised
//!                              Take     they are one action; the goal is q1 ≤ ⟨ε, p1⟩
//!                              Assume 1 which is claim 1
//! ```
//!
//! | rule | of Ghilezan et al.'s relation (PPoPP'22, App. B.2) |
//! |---|---|
//! | [`Inference::End`] | \[ref-end\]: both are finished |
//! | [`Inference::Choose`] | *for all* single-output trees U of T: one goal per output of the subtype |
//! | [`Inference::Unfold`] | *for all* single-input trees V′ of T′: one goal per input of the supertype; outputs become an open choice |
//! | [`Inference::Drop`] | *there is* W′ of V′: the supertype need not choose this output |
//! | [`Inference::Take`] | \[ref-in\], \[ref-A\] for an input, \[ref-out\], \[ref-B\] for an output |
//! | [`Inference::Assume`] | the claim is one of the derivation's: coinduction |
//!
//! # Why a derivation that is accepted proves `T ≤ T′`
//!
//! Only claims that claim 0 leads to matter, and claim 0 is about the two initial states
//! ([`Fault::Initial`](super::Fault::Initial)). Let U be a single-output tree of T, and V′ a
//! single-input tree of T′. They tell which goal to follow: after Choose the goal of U's output,
//! after Unfold the goal of V′'s input at that place of the tree. So there is exactly one way
//! through the derivation. Along it we read off W, W′ and how they match.
//!
//! *The tree is always what V′ may still do.* Unfold puts V′'s next action at the end of a branch,
//! and with several outputs offers all of them; Drop takes alternatives away, never the last one;
//! Take takes away an action that was matched. Any way down the tree is therefore a legal W′, once
//! the actions taken away are put back.
//!
//! *Each Take is a step of ≲.* An input p?ℓ is taken from the spine, from behind nothing but inputs
//! from others: \[ref-A\], or \[ref-in\] at the front. It determines W: T's branch ℓ, which must
//! exist. An output p!ℓ is taken on *every* way down the tree, from behind actions that are not
//! outputs to p: \[ref-B\], or \[ref-out\] at the front. If the way comes to a choice between
//! outputs to p itself, p!ℓ decides it, and the alternative becomes part of the spine. Actions are
//! compared with their sorts, and no rule takes two of one kind (p? or p!) out of order.
//!
//! *Nothing is forgotten.* It remains that act(W) = act(A.W′) and act(W) = act(B.W′) wherever these
//! rules ask for it: it is enough that each action of W′ is matched eventually. If the way ends, it
//! ends with End, where the spine is empty and T′ is finished. Otherwise it passes infinitely many
//! Assumes, because the rules of a claim are finitely many, and at least one action is done before
//! each of them ([`Fault::NoProgress`](super::Fault::NoProgress)). So W′ is infinite, and it is
//! enough to look at actions that come to the spine (each action of W′ does if those before it are
//! all matched), and at the choice at its end. Let a, of kind k, be the first of these that is
//! never matched. From some claim on, a is pending at each claim. Whenever T does kind k, the first
//! pending action of that kind is taken, or the choice is decided. Finitely many are before a, so k
//! is done finitely often. From then on each Assume goes from a claim where k is pending to another
//! without doing k, and each time the rank of k falls ([`Fault::Rank`](super::Fault::Rank)), a
//! natural number: contradiction.
//!
//! The two machines are [directed](crate::Fsm::check_directed), which is checked first, and
//! `Assume` compares the whole claim.
//!
//! # Cost
//!
//! The number of rules times the size of the trees they work on. The checker recurses only on
//! nested open choices, at most [`DEEPEST`] deep.

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
