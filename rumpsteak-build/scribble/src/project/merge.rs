//! The merge of branches that a role does not see apart, by the subset construction (CAV'23, §4): a
//! local state is the set of all global states that are possible for the role.
//!
//! Beforehand, global states whose only edge is an ε-edge are replaced by its target: both are
//! possible at the same times and can do the same.

use rumpsteak_fsm::{Action, Direction};

use super::local::Local;
use crate::global::automaton::{Edge, Global, Letter};
use crate::index::{IndexSet, NONE, Sets, by_number, follow, index, insert_set};
use crate::limits::Limits;

/// An edge of the global automaton: its source, and its position among the edges of the source.
pub(super) type EdgeAt = (u32, u32);

/// A step of a search: the position in its queue from where, and the edge or its letter.
pub(super) type Back<E = EdgeAt> = (usize, E);

/// The edges of a path that a search took. `last` is the last step, and `before` returns the step
/// that led to a position in the queue.
pub(super) fn path<E>(last: Option<Back<E>>, before: impl Fn(usize) -> Option<Back<E>>) -> Vec<E> {
    let steps = std::iter::successors(last, |(at, _)| before(*at));
    let mut path: Vec<E> = steps.map(|(_, edge)| edge).collect();
    path.reverse();
    path
}

/// The global edges with one letter that leave a local state.
pub(super) struct Group {
    pub(super) letter: u32,
    pub(super) edges: Vec<EdgeAt>,
}

/// The name and the value of the limit that was met.
pub(super) type TooLarge = (&'static str, usize);

pub(super) struct Subsets<'g> {
    pub(super) global: &'g Global,
    pub(super) role: u32,
    limits: &'g Limits,
    /// For each global state the next one whose only edge is not an ε-edge.
    representative: Vec<u32>,
    /// For each local state the global states right after the visible action, before ε-edges.
    states: Sets,
    /// The state and letter from which each state was reached first; `None` for the initial one.
    parents: Vec<Option<Back<u32>>>,
    /// The states so far with their transitions.
    pub(super) machine: Local,
    steps: usize,
    /// The global states of the local state that was [closed](Self::close) last.
    pub(super) members: IndexSet<u32>,
}

impl<'g> Subsets<'g> {
    pub(super) fn new(global: &'g Global, role: u32, limits: &'g Limits) -> Result<Self, TooLarge> {
        // Long stretches without the role become one state. All states that lead into a cycle of
        // single ε-edges are replaced by one state of the cycle.
        let representative = follow(global.len(), |state| match global.edges(state) {
            [edge] if !global.is_seen_by(edge.letter, role) => Some(edge.target),
            _ => None,
        });
        let mut subsets = Self {
            global,
            role,
            limits,
            representative,
            states: Sets::default(),
            parents: Vec::new(),
            machine: Local::default(),
            steps: limits.projection_steps,
            members: IndexSet::default(),
        };
        subsets.insert(vec![subsets.representative[0]], None)?;
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
        self.global.is_sent_by(letter, self.role)
    }

    pub(super) fn edge(&self, (source, at): EdgeAt) -> &'g Edge {
        &self.global.edges(source)[at as usize]
    }

    /// The letters of the path by which a state was reached first.
    pub(super) fn word(&self, state: u32) -> Vec<u32> {
        path(self.parents[state as usize], |before| self.parents[before])
    }

    pub(super) fn slot(&self, member: u32) -> u32 {
        self.members.get_index_of(&member).map_or(NONE, index)
    }

    /// The positions of the members to which a member has an ε-edge.
    pub(super) fn silent(&self, member: u32) -> impl Iterator<Item = u32> {
        let edges = self.global.edges(member).iter().filter(|edge| !self.sees(edge.letter));
        edges.map(|edge| self.slot(self.representative[edge.target as usize]))
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooLarge> {
        let value = self.limits.projection_steps;
        self.steps = self.steps.checked_sub(steps).ok_or(("projection_steps", value))?;
        Ok(())
    }

    /// The only edge of a local state that consists of one global state with one edge, which the
    /// role sees. Such a state needs no checks, and most states are like this.
    pub(super) fn only_edge(&self, state: u32) -> Option<(u32, EdgeAt)> {
        let [source] = self.states[state as usize][..] else { return None };
        match self.global.edges(source) {
            // Another edge that is alone belongs to a cycle of ε-edges.
            [edge] if self.sees(edge.letter) => Some((edge.letter, (source, 0))),
            _ => None,
        }
    }

    /// Finds all global states of a local state in depth-first order. Returns their visible edges
    /// by letter, in the order in which the letters were seen.
    pub(super) fn close(&mut self, state: u32) -> Result<Vec<Group>, TooLarge> {
        self.members = IndexSet::default();
        let mut visible = Vec::new();
        let mut stack: Vec<u32> = self.states[state as usize].iter().rev().copied().collect();
        while let Some(found) = stack.pop() {
            if !self.members.insert(found) {
                continue;
            }
            let silent = self.global.edges(found).iter().filter(|edge| !self.sees(edge.letter));
            stack.extend(silent.rev().map(|edge| self.representative[edge.target as usize]));
            for (at, edge) in (0..).zip(self.global.edges(found)) {
                if self.sees(edge.letter) {
                    visible.push((edge.letter, (found, at)));
                }
            }
        }
        self.spend(self.members.len() + visible.len())?;
        Ok(by_number(visible).into_iter().map(|(letter, edges)| Group { letter, edges }).collect())
    }

    /// Adds a transition of a state, and the state behind it.
    pub(super) fn add(&mut self, from: u32, letter: u32, edges: &[EdgeAt]) -> Result<(), TooLarge> {
        let target = |&edge: &EdgeAt| self.representative[self.edge(edge).target as usize];
        let target =
            self.insert(edges.iter().map(target).collect(), Some((from as usize, letter)))?;
        let origins = edges.iter().flat_map(|&edge| &self.edge(edge).origins).copied().collect();
        self.machine.connect(from, self.action(letter), target, origins);
        Ok(())
    }

    /// The number of the local state of these global states, which `parent` leads to.
    fn insert(&mut self, states: Vec<u32>, parent: Option<Back<u32>>) -> Result<u32, TooLarge> {
        let (state, is_new) = insert_set(&mut self.states, states);
        if is_new {
            if self.parents.len() >= self.limits.local_states {
                return Err(("local_states", self.limits.local_states));
            }
            self.parents.push(parent);
            self.machine.add();
            self.spend(self.states[state as usize].len())?;
        }
        Ok(state)
    }

    /// The role's action in an interaction that it sees. A block becomes a message of the role to
    /// itself, which no interaction is; [`blocks`](super::blocks) replaces it by a machine.
    pub(super) fn action(&self, letter: u32) -> Action {
        let Letter { from, to, message, .. } = self.letter(letter);
        let role = |role: u32| self.global.roles[role as usize].clone();
        if from == NONE {
            return Action::send(role(self.role), message.to_string(), &[]);
        }
        let (peer, direction) =
            if from == self.role { (to, Direction::Send) } else { (from, Direction::Receive) };
        let message = self.global.messages[message as usize].clone();
        Action { peer: role(peer), direction, message }
    }
}
