//! The machine of a role while it is built and combined with others.

use hashbrown::{HashMap, HashSet};
use rumpsteak_fsm::{Action, Late};

use super::minimise::{self, Move};
use crate::diagnostics::Span;
use crate::index::{IndexSet, NONE, Sets, by_number, index, insert_set, leads_to, reached};
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
    /// The states that belong to a [gather](super::shuffle) with the next state. All their edges
    /// receive from one peer and lead to that state.
    pub(super) gathers: HashSet<u32>,
    /// The interrupts that are dropped when the role has ended.
    pub(super) late: Late,
    /// The number of all edges.
    size: usize,
}

/// The most messages of one gather: generated code has a set of 64 bits.
const MOST_GATHERED: usize = 64;

impl Local {
    pub(super) fn add(&mut self) -> u32 {
        self.states.push(Vec::new());
        index(self.states.len() - 1)
    }

    pub(super) fn connect(&mut self, from: u32, action: Action, to: u32, origins: Vec<Span>) {
        self.states[from as usize].push(Edge { action, target: to, origins });
        self.size += 1;
    }

    /// Adds a gather of these messages, which are edges of other states, from `state` to `end`.
    pub(super) fn gather(&mut self, mut state: u32, messages: &[&[Edge]], end: u32) {
        for (number, edges) in (1..).zip(messages) {
            let is_last = number == messages.len();
            let next = if is_last { end } else { self.add() };
            for Edge { action, origins, .. } in *edges {
                self.connect(state, action.clone(), next, origins.clone());
            }
            if !is_last && number % MOST_GATHERED != 0 {
                self.gathers.insert(state);
            }
            state = next;
        }
    }

    /// Puts a machine between two states. `from` may have edges, and the machine may come back to
    /// its first state, so that is a state of its own. If `from` has others, and the machine begins
    /// with a gather, the first message is any of the gather.
    pub(super) fn splice(&mut self, from: u32, part: &Self, to: u32, has_others: bool) {
        let end = part.end();
        let number = |state| if Some(state) == end { to } else { self.add() };
        let numbers: Vec<u32> = (0..index(part.states.len())).map(number).collect();
        let place = |state: u32| numbers[state as usize];
        let is_opened = has_others && part.gathers.contains(&0);
        let first = part.edges(0).iter().filter(|_| !is_opened).map(|edge| (from, edge));
        let edges = part.all_edges().map(|(state, edge)| (place(state), edge));
        for (state, Edge { action, target, origins }) in first.chain(edges) {
            self.connect(state, action.clone(), place(*target), origins.clone());
        }
        self.gathers.extend(part.gathers.iter().map(|&state| place(state)));
        if !is_opened {
            self.gathers.extend(part.gathers.get(&0).map(|_| from));
            return;
        }
        let mut states = vec![0];
        let end = loop {
            let last = states[states.len() - 1];
            let next = part.edges(last)[0].target;
            if !part.gathers.contains(&last) {
                break place(next);
            }
            states.push(next);
        };
        for &state in &states {
            let others = states.iter().filter(|&&other| other != state);
            let others: Vec<&[Edge]> = others.map(|&other| part.edges(other)).collect();
            let next = self.add();
            self.gather(next, &others, end);
            for Edge { action, origins, .. } in part.edges(state) {
                self.connect(from, action.clone(), next, origins.clone());
            }
        }
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

    /// An edge in one of whose states another edge has its peer, direction and label.
    pub(super) fn shared_label(&self) -> Option<&Edge> {
        self.states.iter().find_map(|edges| {
            let mut seen = HashSet::new();
            edges.iter().find(|edge| {
                let Action { peer, direction, message } = &edge.action;
                !seen.insert((peer, *direction as u8, &message.label))
            })
        })
    }

    /// The machine of a role that follows several edges with one action at once, until it is told
    /// which one it was. `None` if it may send or end before, or the machine is too large.
    pub(super) fn told_later(&self, limits: &Limits) -> Option<Self> {
        let mut told = Self { late: self.late.clone(), ..Self::default() };
        let mut sets = Sets::from_iter([Box::from([0])]);
        while let Some(set) = sets.get_index(told.states.len()).cloned() {
            let sends = |state: &u32| {
                let edges = self.edges(*state);
                let sent = edges.iter().map(|edge| &edge.action).filter(|of| of.is_send());
                (edges.is_empty(), sent.collect::<HashSet<_>>())
            };
            let mut all = set.iter().map(sends);
            let first = all.next()?;
            if told.exceeded(limits).is_some() || all.any(|other| other != first) {
                return None;
            }
            let state = told.add();
            let mut letters: HashMap<&Action, u32> = HashMap::new();
            let edges = set.iter().flat_map(|&state| self.edges(state)).map(|edge| {
                let next = index(letters.len());
                (*letters.entry(&edge.action).or_insert(next), edge)
            });
            for (_, edges) in by_number(edges.collect()) {
                let next = edges.iter().map(|edge| edge.target).collect();
                let next = insert_set(&mut sets, next).0;
                let origins = edges.iter().flat_map(|edge| &edge.origins).copied().collect();
                told.connect(state, edges[0].action.clone(), next, origins);
            }
            if set.len() == 1 && set.iter().all(|of| self.gathers.contains(of)) {
                told.gathers.insert(state);
            }
        }
        Some(told)
    }

    /// True if the states and their actions are the same, at whatever places.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let edges = |local: &Self| {
            let edges = local.all_edges();
            edges.map(|(from, edge)| (from, edge.action.clone(), edge.target)).collect::<Vec<_>>()
        };
        self.gathers == other.gathers && edges(self) == edges(other)
    }

    pub(super) fn end(&self) -> Option<u32> {
        self.states.iter().position(Vec::is_empty).map(index)
    }

    pub(super) fn all_edges(&self) -> Box<dyn Iterator<Item = (u32, &Edge)> + '_> {
        let states = (0..).zip(&self.states);
        Box::new(states.flat_map(|(state, edges)| edges.iter().map(move |edge| (state, edge))))
    }

    pub(super) fn states_with(&self, is: &dyn Fn(&Edge) -> bool) -> Vec<u32> {
        self.all_edges().filter(|(_, edge)| is(edge)).map(|(state, _)| state).collect()
    }

    /// Returns for each state true if edges that satisfy `by` lead from it to one of `goals`.
    pub(super) fn leads_to(&self, by: &dyn Fn(&Edge) -> bool, goals: Vec<u32>) -> Vec<bool> {
        let edges = self.all_edges().filter(|(_, edge)| by(edge));
        let edges: Vec<(u32, u32)> = edges.map(|(state, edge)| (state, edge.target)).collect();
        leads_to(self.states.len(), &edges, goals)
    }

    /// Returns for each state true if edges that satisfy `by` lead to it from one of `first`.
    pub(super) fn reached(&self, by: &dyn Fn(&Edge) -> bool, first: Vec<u32>) -> Vec<bool> {
        reached(self.states.len(), first, &|state, work| {
            work.extend(self.edges(state).iter().filter(|edge| by(edge)).map(|edge| edge.target));
        })
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
        // A state of a gather differs from a state that receives the same in order.
        let letter = index(letters.len());
        let gathers = self.gathers.iter();
        moves.extend(gathers.map(|&state| Move { source: state, letter, target: state }));
        let classes = minimise::classes(self.states.len(), &moves);
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
        let (mut keys, mut merged) = (IndexSet::default(), Vec::with_capacity(self.size));
        // The moves of gathers come last.
        for (found, edge) in moves.iter().zip(self.states.into_iter().flatten()) {
            let source = place(found.source);
            if source != NONE {
                match keys.insert_full((source, found.letter)) {
                    (_, true) => merged.push((source, Edge { target: place(edge.target), ..edge })),
                    (known, false) => merged[known].1.origins.extend(edge.origins),
                }
            }
        }
        for (source, mut edge) in merged {
            edge.origins.sort_unstable();
            edge.origins.dedup();
            least.connect(source, edge.action, edge.target, edge.origins);
        }
        let gathers = self.gathers.into_iter().map(place);
        least.gathers = gathers.filter(|&state| state != NONE).collect();
        least.late = self.late;
        least
    }
}
