//! The machine of a role while it is built and combined with others.

use hashbrown::HashMap;
use rumpsteak_fsm::{Action, Fsm, Role};

use super::grouped::leads_to;
use super::minimise::{self, Move};
use crate::diagnostics::span::Span;
use crate::index::{IndexMap, NONE, index};
use crate::limits::Limits;

/// A transition, and the places of its interactions.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) action: Action,
    pub(super) target: u32,
    pub(super) origins: Vec<Span>,
}

/// A machine that may become a part of another one. State 0 is the initial one. Once it is
/// minimised, at most one state, the end, has no edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    pub(super) states: Vec<Vec<Edge>>,
    /// The number of all edges.
    size: usize,
}

impl Local {
    pub(super) fn add(&mut self) -> u32 {
        self.states.push(Vec::new());
        index(self.states.len() - 1)
    }

    pub(super) fn connect(&mut self, from: u32, action: Action, to: u32, origins: Vec<Span>) {
        self.states[from as usize].push(Edge { action, target: to, origins });
        self.size += 1;
    }

    /// The name and the value of a limit that the machine exceeds.
    pub(super) fn exceeded(&self, limits: &Limits) -> Option<(&'static str, usize)> {
        if self.states.len() > limits.local_states {
            return Some(("local_states", limits.local_states));
        }
        let limit = limits.local_transitions;
        (self.size > limit).then_some(("local_transitions", limit))
    }

    pub(super) fn edges(&self, state: u32) -> &[Edge] {
        &self.states[state as usize]
    }

    pub(super) fn end(&self) -> Option<u32> {
        self.states.iter().position(Vec::is_empty).map(index)
    }

    pub(super) fn all_edges(&self) -> impl Iterator<Item = (u32, &Edge)> {
        let states = (0..).zip(&self.states);
        states.flat_map(|(state, edges)| edges.iter().map(move |edge| (state, edge)))
    }

    pub(super) fn states_with(&self, is: impl Fn(&Edge) -> bool) -> impl Iterator<Item = u32> {
        self.all_edges().filter(move |(_, edge)| is(edge)).map(|(state, _)| state)
    }

    /// Returns for each state true if edges that satisfy `by` lead from it to one of `goals`.
    pub(super) fn leads_to(
        &self,
        by: impl Fn(&Edge) -> bool,
        goals: impl IntoIterator<Item = u32>,
    ) -> Vec<bool> {
        let edges = self.all_edges().filter(|(_, edge)| by(edge));
        let edges: Vec<(u32, u32)> = edges.map(|(state, edge)| (state, edge.target)).collect();
        leads_to(self.states.len(), &edges, goals)
    }

    /// Merges equivalent states and numbers them depth first, in the order of the text.
    pub(super) fn minimised(self) -> Self {
        let mut letters: HashMap<&Action, u32> = HashMap::new();
        let mut moves = Vec::with_capacity(self.size);
        for (source, edge) in self.all_edges() {
            let next = index(letters.len());
            let letter = *letters.entry(&edge.action).or_insert(next);
            moves.push(Move { source, letter, target: edge.target });
        }
        let classes = minimise::classes(self.states.len(), letters.len(), &moves);
        drop(letters);
        // The first state of each class stands for all of them: their letters are equal.
        let mut first = vec![0; classes.len()];
        for (state, &class) in (0..index(classes.len())).zip(&classes).rev() {
            first[class as usize] = state;
        }
        let mut places = vec![NONE; classes.len()];
        let mut least = Self::default();
        let mut stack = vec![0];
        while let Some(state) = stack.pop() {
            let class = classes[state as usize] as usize;
            if places[class] == NONE {
                places[class] = least.add();
                stack.extend(self.edges(first[class]).iter().rev().map(|edge| edge.target));
            }
        }
        let place = |state: u32| places[classes[state as usize] as usize];
        let mut merged: IndexMap<(u32, u32), Edge> = IndexMap::default();
        for (found, edge) in moves.iter().zip(self.states.into_iter().flatten()) {
            let source = place(found.source);
            if source != NONE {
                let new =
                    || Edge { target: place(edge.target), action: edge.action, origins: vec![] };
                let known = merged.entry((source, found.letter)).or_insert_with(new);
                known.origins.extend(edge.origins);
            }
        }
        for ((source, _), mut edge) in merged {
            edge.origins.sort_unstable();
            edge.origins.dedup();
            least.connect(source, edge.action, edge.target, edge.origins);
        }
        least
    }

    /// The machine, and the places of each transition.
    pub(super) fn fsm(self, role: &Role) -> (Fsm, Vec<Vec<Span>>) {
        let mut builder = Fsm::builder(role.clone());
        let states: Vec<_> = self.states.iter().map(|_| builder.add_state()).collect();
        let mut origins = Vec::with_capacity(self.size);
        for (source, edges) in states.iter().zip(self.states) {
            for edge in edges {
                builder.add_transition(*source, edge.action, states[edge.target as usize]);
                origins.push(edge.origins);
            }
        }
        (builder.build(states[0]), origins)
    }
}
