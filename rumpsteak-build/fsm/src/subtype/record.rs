//! What a search keeps for its certificate: the rules that it applied, where it applied them.
//!
//! A [`Derivation`] lists the rules of each situation in preorder. The search works breadth first, so it records
//! *fragments*: the rules between one branching of the search and the next. The fragments of a situation
//! form a tree, and in preorder its fragments are the derivation.
//!
//! ```text
//!   fragment                    Unfold Choose
//!     ├─ first output           Take Assume 1
//!     └─ second output          Unfold Take End
//! ```
//!
//! The record is not trusted: [`certificate::check`](crate::certificate::check) decides.

use std::{iter::Copied, slice};

use indexmap::IndexSet;

use super::{
    pair::{Act, Pair},
    prefix,
};
use crate::{
    certificate::derivation::{Derivation, Rule as Inference, Situation, Tail, Tree},
    machine::{StateId, TransitionId},
};

/// The situations of a search, numbered in the order in which they were met, and their derivations.
#[derive(Default)]
pub(super) struct Record {
    /// By situation, its state and pending actions, [encoded](encode).
    pub(super) keys: IndexSet<Box<[u32]>, hashbrown::DefaultHashBuilder>,
    /// By situation, its first fragment.
    roots: Vec<u32>,
    fragments: Vec<Fragment>,
    /// The ranks that are not 0: the situation, a transition of the supertype with the kind, and the rank.
    pub(super) ranks: Vec<(u32, u32, u32)>,
    /// By action, a transition of the supertype that does it.
    transitions: Vec<u32>,
}

/// Rules that are applied one after the other.
#[derive(Default)]
struct Fragment {
    rules: Vec<Inference>,
    /// The fragments that follow, one for each goal that is left: from the first to before the last.
    next: (u32, u32),
}

/// A situation as a sequence of numbers, equal for equal situations.
///
/// `lossy` tells two situations apart that the search judges differently; to a certificate they are two equal claims.
pub(super) fn encode(state: u32, prefix: &prefix::Prefix, lossy: bool) -> Vec<u32> {
    let mut key = Vec::with_capacity(prefix.spine.len() + 4);
    key.push(state << 1 | u32::from(lossy));
    prefix.encode(&mut key);
    key
}

impl Record {
    pub(super) fn new(pair: &Pair) -> Self {
        let mut transitions = vec![0; pair.acts()];
        for state in 0..pair.sup.len() as u32 {
            for edge in pair.sup.edges(state) {
                transitions[edge.act as usize] = edge.id.index() as u32;
            }
        }
        Self {
            transitions,
            ..Self::default()
        }
    }

    /// Adds the situation that was met last; its first fragment.
    pub(super) fn root(&mut self) -> u32 {
        let (root, _) = self.open(1);
        self.roots.push(root);
        root
    }

    /// Ends a fragment, after which `count` goals are left; the first of their fragments, which are numbered one after the other.
    pub(super) fn close(&mut self, fragment: u32, rules: Vec<Inference>, count: usize) -> u32 {
        let next = self.open(count);
        self.fragments[fragment as usize] = Fragment { rules, next };
        next.0
    }

    fn open(&mut self, count: usize) -> (u32, u32) {
        let first = self.fragments.len();
        self.fragments.resize_with(first + count, Fragment::default);
        (first as u32, self.fragments.len() as u32)
    }

    /// The certificate. O(its size).
    pub(super) fn derivation(&self) -> Derivation {
        let mut situations: Vec<Situation> = self
            .keys
            .iter()
            .zip(&self.roots)
            .map(|(key, &root)| self.situation(key, root))
            .collect();
        for &(situation, transition, rank) in &self.ranks {
            let ranks = &mut situations[situation as usize].ranks;
            ranks.push((TransitionId::from_index(transition as usize), rank));
        }
        Derivation { situations }
    }

    fn situation(&self, key: &[u32], root: u32) -> Situation {
        let mut numbers = key.iter().copied();
        let state = numbers.next().unwrap_or_default() >> 1;
        let mut rules = vec![];
        let mut open = vec![root];
        while let Some(fragment) = open.pop() {
            let Fragment {
                rules: own,
                next: (start, end),
            } = &self.fragments[fragment as usize];
            rules.extend_from_slice(own);
            open.extend((*start..*end).rev());
        }
        Situation {
            state: StateId::from_index(state as usize),
            tree: self.tree(&mut numbers),
            rules,
            ranks: vec![],
        }
    }

    /// Decodes a tree. Recursion follows open choices inside each other, which the search bounds.
    fn tree(&self, numbers: &mut Copied<slice::Iter<'_, u32>>) -> Tree {
        let len = numbers.next().unwrap_or_default() as usize;
        let spine = numbers
            .by_ref()
            .take(len)
            .map(|act| self.transition(act))
            .collect();
        let mut alternatives = vec![];
        loop {
            let (left, number) = (numbers.next(), numbers.next().unwrap_or_default());
            match left {
                None | Some(0) => {
                    let tail = Tail::State(StateId::from_index(number as usize));
                    return Tree { spine, tail };
                }
                Some(left) => {
                    alternatives.push((self.transition(number), self.tree(numbers)));
                    if left == 1 {
                        let tail = Tail::Choice(alternatives);
                        return Tree { spine, tail };
                    }
                }
            }
        }
    }

    fn transition(&self, act: Act) -> TransitionId {
        TransitionId::from_index(self.transitions[act as usize] as usize)
    }
}
