//! The subset construction (CAV'23, §4): a local state is the set of all global states that a role
//! must take for possible.
//!
//! Contraction removes states with one ε-move beforehand: they are possible exactly when their
//! successor is, and can do exactly what it can.

use std::ops::Range;

use super::minimise::Move;
use crate::global::automaton::{Edge, Global, Hop, Letter};
use crate::index::{NONE, follow, index};
use crate::limits::Limits;
use crate::sets::Sets;

/// An edge of the global automaton: its source, and its position among the edges of the source.
pub(super) type EdgeAt = (u32, u32);

/// The entry of a queue before, and the edge from there.
pub(super) type Back = (usize, EdgeAt);

/// The edges on the way that a search took, from its last step and the entries of its queue.
pub(super) fn way(last: Option<Back>, before: impl Fn(usize) -> Option<Back>) -> Vec<EdgeAt> {
    let steps = std::iter::successors(last, |&(at, _)| before(at));
    let mut way: Vec<EdgeAt> = steps.map(|(_, edge)| edge).collect();
    way.reverse();
    way
}

/// The global edges of one letter that leave a local state.
pub(super) struct Group {
    pub(super) letter: u32,
    pub(super) edges: Vec<EdgeAt>,
}

/// The name of the limit that was met, and its value.
pub(super) struct TooLarge {
    pub(super) limit: &'static str,
    pub(super) value: usize,
}

pub(super) struct Subsets<'g> {
    pub(super) global: &'g Global,
    pub(super) role: u32,
    limits: &'g Limits,
    /// The global state that stands for each one: the next that is not left by a single ε.
    representative: Vec<u32>,
    /// For each local state the global states after the visible action, before ε.
    states: Sets,
    /// The state and letter from which each state was reached first; [`NONE`] twice for the initial
    /// one.
    parents: Vec<(u32, u32)>,
    /// All transitions, before states are merged, and where those of each state end.
    pub(super) moves: Vec<Move>,
    move_ends: Vec<u32>,
    /// The global edges that transitions stand for, and where those of each transition end.
    written: Vec<EdgeAt>,
    written_ends: Vec<u32>,
    steps: usize,

    /// All global states of the local state that was [closed](Self::close) last.
    members: Vec<u32>,
    /// The position of a global state in `members`, if `seen` is the current epoch.
    slots: Vec<u32>,
    seen: Vec<u32>,
    epoch: u32,
    /// One more than the group of each letter while edges are grouped, or else 0.
    groups: Vec<u32>,
}

impl<'g> Subsets<'g> {
    pub(super) fn new(global: &'g Global, role: u32, limits: &'g Limits) -> Result<Self, TooLarge> {
        let mut subsets = Self {
            global,
            role,
            limits,
            representative: contract(global, role),
            states: Sets::new(global.len()),
            parents: Vec::new(),
            moves: Vec::new(),
            move_ends: Vec::new(),
            written: Vec::new(),
            written_ends: Vec::new(),
            steps: limits.projection_steps,
            members: Vec::new(),
            slots: Vec::new(),
            seen: Vec::new(),
            epoch: 0,
            groups: Vec::new(),
        };
        let (_, is_new) = subsets.states.insert_one(subsets.representative[0]);
        subsets.reach(is_new, (NONE, NONE))?;
        Ok(subsets)
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn letter(&self, letter: u32) -> Letter {
        self.global.letters[letter as usize]
    }

    pub(super) fn sees(&self, letter: u32) -> bool {
        self.global.is_seen_by(letter, self.role)
    }

    pub(super) fn is_block(&self, letter: u32) -> bool {
        self.letter(letter).from == NONE
    }

    pub(super) fn sends(&self, letter: u32) -> bool {
        self.letter(letter).from == self.role
    }

    pub(super) fn edge(&self, (source, at): EdgeAt) -> &'g Edge {
        &self.global.edges(source)[at as usize]
    }

    /// The transitions of a state, as positions in `moves`.
    pub(super) fn moves(&self, state: u32) -> Range<usize> {
        part(&self.move_ends, state as usize)
    }

    /// The global edges that the transition at a position stands for.
    pub(super) fn written(&self, position: usize) -> &[EdgeAt] {
        &self.written[part(&self.written_ends, position)]
    }

    /// The letters on the way by which a state was reached first.
    pub(super) fn word(&self, state: u32) -> Vec<u32> {
        let parent = |state: u32| Some(self.parents[state as usize]);
        let has_parent = |&(parent, _): &(u32, u32)| parent != NONE;
        let steps = std::iter::successors(parent(state).filter(has_parent), |step| {
            parent(step.0).filter(has_parent)
        });
        let mut word: Vec<u32> = steps.map(|(_, letter)| letter).collect();
        word.reverse();
        word
    }

    /// All global states of the local state that was [closed](Self::close) last.
    pub(super) fn members(&self) -> &[u32] {
        &self.members
    }

    pub(super) fn slot(&self, member: u32) -> u32 {
        self.slots[member as usize]
    }

    /// The positions of the members to which a member has an ε-edge.
    pub(super) fn silent(&self, member: u32) -> impl Iterator<Item = u32> {
        let edges = self.global.edges(member).iter().filter(|edge| !self.sees(edge.letter));
        edges.map(|edge| self.slot(self.representative[edge.target as usize]))
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooLarge> {
        let value = self.limits.projection_steps;
        let left = self.steps.checked_sub(steps);
        self.steps = left.ok_or(TooLarge { limit: "projection_steps", value })?;
        Ok(())
    }

    /// The only edge of a local state that stands for one global state with one edge, which the
    /// role sees. Every check holds there, and most states are like this.
    pub(super) fn only_edge(&self, state: u32) -> Option<(u32, EdgeAt)> {
        let &[source] = self.states.get(state) else { return None };
        match self.global.edges(source) {
            // An edge out of sight has been contracted, or is a cycle out of sight.
            [edge] if self.sees(edge.letter) => Some((edge.letter, (source, 0))),
            _ => None,
        }
    }

    /// Finds all global states of a local state, first visit first, and gives their visible edges
    /// by letter, first seen first.
    pub(super) fn close(&mut self, state: u32) -> Result<Vec<Group>, TooLarge> {
        // Many roles close no state.
        self.slots.resize(self.global.len(), 0);
        self.seen.resize(self.global.len(), 0);
        self.groups.resize(self.global.letters.len(), 0);
        self.epoch += 1;
        self.members.clear();
        let mut stack: Vec<u32> = self.states.get(state).iter().rev().copied().collect();
        while let Some(found) = stack.pop() {
            if std::mem::replace(&mut self.seen[found as usize], self.epoch) == self.epoch {
                continue;
            }
            self.slots[found as usize] = index(self.members.len());
            self.members.push(found);
            for edge in self.global.edges(found).iter().rev() {
                if !self.sees(edge.letter) {
                    stack.push(self.representative[edge.target as usize]);
                }
            }
        }
        self.spend(self.members.len())?;

        let mut groups: Vec<Group> = Vec::new();
        let mut count = 0;
        for &member in &self.members {
            for (at, edge) in (0..).zip(self.global.edges(member)) {
                let letter = edge.letter;
                if !self.sees(letter) {
                    continue;
                }
                let group = &mut self.groups[letter as usize];
                if *group == 0 {
                    let edges = Vec::new();
                    groups.push(Group { letter, edges });
                    *group = index(groups.len());
                }
                groups[*group as usize - 1].edges.push((member, at));
                count += 1;
            }
        }
        for group in &groups {
            self.groups[group.letter as usize] = 0;
        }
        self.spend(count)?;
        Ok(groups)
    }

    /// Adds a transition of the state that is [left](Self::leave) next, and the state behind it.
    pub(super) fn add(&mut self, letter: u32, edges: &[EdgeAt]) -> Result<(), TooLarge> {
        let target = |&edge: &EdgeAt| self.representative[self.edge(edge).target as usize];
        let (target, is_new) = match edges {
            [edge] => {
                let target = target(edge);
                self.states.insert_one(target)
            }
            _ => {
                let targets = edges.iter().map(target).collect();
                self.states.insert(targets)
            }
        };
        let source = index(self.move_ends.len());
        self.reach(is_new, (source, letter))?;
        self.written.extend_from_slice(edges);
        self.written_ends.push(index(self.written.len()));
        self.moves.push(Move { source, letter, target });
        Ok(())
    }

    /// All transitions of the next state, in the order in which states were found, are added.
    pub(super) fn leave(&mut self) {
        self.move_ends.push(index(self.moves.len()));
    }

    /// Accounts for the state that was found last, if it is a new one.
    fn reach(&mut self, is_new: bool, parent: (u32, u32)) -> Result<(), TooLarge> {
        if !is_new {
            return Ok(());
        }
        if self.parents.len() >= self.limits.local_states {
            return Err(TooLarge { limit: "local_states", value: self.limits.local_states });
        }
        let new = index(self.parents.len());
        self.parents.push(parent);
        self.spend(self.states.get(new).len())
    }
}

/// The positions of the `at`th part of a table, given where its parts end.
fn part(ends: &[u32], at: usize) -> Range<usize> {
    let start = if at == 0 { 0 } else { ends[at - 1] };
    start as usize..ends[at] as usize
}

/// For each state the next one that is not left by a single ε: long stretches without the role
/// become one state. A state on a cycle of single ε stands for itself and for all that lead to it.
fn contract(global: &Global, role: u32) -> Vec<u32> {
    let hops = global.hops.as_slice();
    follow(hops.len(), |state| {
        let Hop { from, to, target } = hops[state as usize];
        (target != NONE && from != role && to != role).then_some(target)
    })
}
