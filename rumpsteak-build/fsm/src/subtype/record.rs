//! The record of a search. Its certificate is written from it. The record is not trusted:
//! [`certificate::check`](crate::certificate::check) decides.
//!
//! A [`Derivation`] lists the rules of each situation in preorder. The search works breadth first,
//! so it records *fragments*: the subtype's actions between one branching of the search and the
//! next. The fragments of a situation form a tree, and in preorder they are the derivation.
//!
//! ```text
//!   fragment                    s!ready after 3 unfoldings
//!     ├─ first output           t!value after none, then as situation 1
//!     └─ second output          t!stop after 2, then the end
//! ```

use std::iter::{Copied, repeat_n};
use std::slice;

use super::pair::{Act, Pair, State};
use super::prefix::Prefix;
use super::sequences::{Sequence, Sequences};
use crate::certificate::derivation::{Derivation, Inference, Situation, Tail, Tree};
use crate::machine::{IndexSet, StateId, TransitionId};

/// The situations of a search, in the order of meeting, and their derivations.
pub(super) struct Record {
    pair: Pair,
    /// The state and pending actions of all situations, [encoded](encode).
    keys: IndexSet<Box<[u32]>>,
    /// By situation, its first fragment.
    roots: Vec<u32>,
    fragments: Vec<Fragment>,
    pub(super) trails: Vec<Done>,
    /// The rules by which actions were done, if they are not just unfoldings of the spine.
    pub(super) sequences: Sequences,
    /// The ranks that are not 0: the situation, a transition of the supertype with the kind, and
    /// the rank.
    pub(super) ranks: Vec<(u32, u32, u32)>,
}

#[derive(Clone, Copy)]
pub(super) struct Done {
    pub(super) transition: u32,
    /// After so many unfoldings of the supertype or, from [`LISTED`] on, by a sequence of
    /// [`Record::sequences`].
    by: u32,
}

const LISTED: u32 = 1 << 31;

impl Done {
    pub(super) fn after(transition: u32, unfoldings: u32) -> Self {
        Self { transition, by: unfoldings }
    }

    pub(super) fn by(transition: u32, rules: Sequence) -> Self {
        Self { transition, by: LISTED | rules }
    }
}

struct Fragment {
    /// A range of [`Record::trails`].
    trail: (u32, u32),
    then: Then,
}

pub(super) enum Then {
    /// The first and the number of the fragments for the open goals; 0 if not known yet.
    Branch(u32, u32),
    /// Rule ASM, with the situation.
    Assume(u32),
    /// Rule END, after so many unfoldings.
    End(u32),
}

/// Writes a situation as numbers, equal for equal situations. `lossy` distinguishes two situations
/// that the search judges differently, and that are equal claims in a certificate.
pub(super) fn encode(state: u32, prefix: &Prefix, lossy: bool, key: &mut Vec<u32>) {
    key.clear();
    key.push(state << 1 | u32::from(lossy));
    prefix.encode(key);
}

impl Record {
    pub(super) fn new(pair: &Pair) -> Self {
        Self {
            pair: pair.clone(),
            keys: IndexSet::default(),
            roots: vec![],
            fragments: vec![],
            trails: Vec::with_capacity(64),
            sequences: Sequences::default(),
            ranks: vec![],
        }
    }

    /// The number of the situation with a key, and true if it is new.
    pub(super) fn intern(&mut self, key: &[u32]) -> (u32, bool) {
        let known = self.keys.get_index_of(key).map(|id| (id, false));
        let (id, is_new) = known.unwrap_or_else(|| self.keys.insert_full(key.into()));
        (id as u32, is_new)
    }

    /// Adds the situation that was met last; returns its first fragment.
    pub(super) fn root(&mut self) -> u32 {
        let root = self.open(1);
        self.roots.push(root);
        root
    }

    /// Ends a fragment, which has a range of the trails.
    pub(super) fn close(&mut self, fragment: u32, trail: (u32, u32), then: Then) {
        self.fragments[fragment as usize] = Fragment { trail, then };
    }

    pub(super) fn append(&mut self, trail: &[Done]) -> (u32, u32) {
        let start = self.trails.len() as u32;
        self.trails.extend_from_slice(trail);
        (start, self.trails.len() as u32)
    }

    /// Adds fragments with successive numbers; returns the first.
    pub(super) fn open(&mut self, count: usize) -> u32 {
        let first = self.fragments.len();
        self.fragments
            .resize_with(first + count, || Fragment { trail: (0, 0), then: Then::Branch(0, 0) });
        first as u32
    }

    pub(super) fn derivation(&self) -> Derivation {
        let Pair { sub, sup } = &self.pair;
        let mut transitions = vec![0; self.pair.acts()];
        for (transition, act) in sup.by_transition(|edge| edge.act).into_iter().enumerate() {
            transitions[act as usize] = transition as u32;
        }
        let sends = sub.by_transition(|edge| matches!(sub.state(edge.source), State::Send(_)));
        let mut situations: Vec<Situation> = vec![];
        for (key, &root) in self.keys.iter().zip(&self.roots) {
            let mut numbers = key.iter().copied();
            let state = numbers.next().unwrap_or_default() >> 1;
            situations.push(Situation {
                state: StateId::from_index(state as usize),
                tree: tree(&mut numbers, &transitions),
                rules: self.rules(root, &sends),
                ranks: vec![],
            });
        }
        for &(situation, transition, rank) in &self.ranks {
            let ranks = &mut situations[situation as usize].ranks;
            ranks.push((TransitionId::from_index(transition as usize), rank));
        }
        Derivation { situations }
    }

    /// The rules of a situation. `sends` says which transitions of the subtype are outputs.
    fn rules(&self, root: u32, sends: &[bool]) -> Vec<Inference> {
        let mut rules = vec![];
        let mut open = vec![root];
        while let Some(fragment) = open.pop() {
            let Fragment { trail, ref then } = self.fragments[fragment as usize];
            for done in &self.trails[trail.0 as usize..trail.1 as usize] {
                if done.by >= LISTED {
                    self.sequences.write(done.by - LISTED, &mut rules);
                } else {
                    if sends[done.transition as usize] {
                        rules.push(Inference::Choose);
                    }
                    rules.extend(repeat_n(Inference::Unfold(vec![]), done.by as usize));
                }
                rules.push(Inference::Take);
            }
            match *then {
                Then::Branch(first, count) => open.extend((first..first + count).rev()),
                Then::Assume(situation) => rules.push(Inference::Assume(situation)),
                Then::End(unfoldings) => {
                    rules.extend(repeat_n(Inference::Unfold(vec![]), unfoldings as usize));
                    rules.push(Inference::End);
                }
            }
        }
        rules
    }
}

/// Decodes a tree. Recursion follows open choices inside each other, which the search bounds.
fn tree(numbers: &mut Copied<slice::Iter<'_, u32>>, transitions: &[u32]) -> Tree {
    let transition = |act: Act| TransitionId::from_index(transitions[act as usize] as usize);
    let len = numbers.next().unwrap_or_default() as usize;
    let spine = numbers.by_ref().take(len).map(transition).collect();
    let mut alternatives = vec![];
    let tail = loop {
        let left = numbers.next().unwrap_or_default();
        let number = numbers.next().unwrap_or_default();
        if left == 0 {
            break Tail::State(StateId::from_index(number as usize));
        }
        alternatives.push((transition(number), tree(numbers, transitions)));
        if left == 1 {
            break Tail::Choice(alternatives);
        }
    };
    Tree { spine, tail }
}
