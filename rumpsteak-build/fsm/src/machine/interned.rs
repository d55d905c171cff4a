//! A machine with numbers instead of names, as the algorithms on pairs of machines want it.
//!
//! It is made once per [`Fsm`](super::Fsm) and kept beside it. Most pairs that are compared do the same actions, and numbers are given in the order of actions; so
//! such a pair has the same numbers on both sides, and nothing has to be translated.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use super::{Action, Direction, Fsm, Role, TransitionId};
use crate::hash::Seeded;

/// A peer and a direction, `p?` or `p!`: what the paper's act(π) collects. Dense.
pub(crate) type Kind = u32;

/// An action, `p!ℓ(S)`: equal ids are equal actions. Dense.
pub(crate) type Act = u32;

/// Which numbers actions have.
#[derive(Debug)]
pub(crate) struct Names {
    /// By number.
    pub(crate) actions: Vec<Action>,
    /// The kind of each action.
    pub(crate) kind_of: Vec<Kind>,
    /// Whether a kind is a send.
    pub(crate) is_send: Vec<bool>,
}

/// A machine whose states each send to one peer or receive from one peer.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) initial: u32,
    /// By state: what it does, and where its edges are.
    states: Vec<(State, u32, u32)>,
    edges: Vec<Edge>,
    /// The positions of a state's edges, by action.
    sorted: Vec<u32>,
    /// By transition.
    pub(crate) kind_of: Vec<Kind>,
    /// By state, whether it is the first one or several transitions lead to it from states that are reached. Every loop that is reached has such a state, for it is
    /// entered from somewhere.
    pub(crate) anchors: Vec<bool>,
    /// The edges that lead to each state, once somebody asks.
    incoming: OnceLock<Incoming>,
    pub(crate) names: Arc<Names>,
}

/// For each state, the sources and positions of the edges that lead to it, as ranges of one array.
#[derive(Clone, Debug)]
struct Incoming {
    offsets: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    End,
    Receive(Kind),
    Send(Kind),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) act: Act,
    pub(crate) target: u32,
    pub(crate) id: TransitionId,
}

impl Names {
    /// Numbers actions in their order; those of one kind are neighbours in it.
    fn new(mut actions: Vec<Action>) -> Self {
        actions.sort_unstable();
        actions.dedup();
        let mut kind_of = Vec::with_capacity(actions.len());
        let mut is_send = vec![];
        let mut last: Option<(&Role, Direction)> = None;
        for action in &actions {
            let kind = (&action.peer, action.direction);
            if last != Some(kind) {
                is_send.push(action.direction == Direction::Send);
                last = Some(kind);
            }
            kind_of.push(is_send.len() as Kind - 1);
        }
        Self {
            actions,
            kind_of,
            is_send,
        }
    }
}

impl Machine {
    /// Interns a directed machine.
    pub(crate) fn new(fsm: &Fsm) -> Self {
        let mut seen: HashMap<&Action, u32, Seeded> = HashMap::default();
        let mut firsts = vec![];
        let mut acts = Vec::with_capacity(fsm.transition_count());
        for transition in fsm.transitions() {
            let next = seen.len() as u32;
            let number = *seen.entry(transition.action).or_insert(next);
            if number == next {
                firsts.push(transition.action);
            }
            acts.push(number);
        }
        let names = Names::new(firsts.iter().map(|&action| action.clone()).collect());
        let numbers = numbers(&names, firsts.into_iter());
        let mut machine = Self {
            initial: fsm.initial().index() as u32,
            states: Vec::with_capacity(fsm.len()),
            edges: Vec::with_capacity(acts.len()),
            sorted: vec![],
            kind_of: vec![],
            anchors: vec![],
            incoming: OnceLock::new(),
            names: Arc::new(names),
        };
        for state in fsm.states() {
            let start = machine.edges.len() as u32;
            for transition in fsm.transitions_from(state) {
                machine.edges.push(Edge {
                    act: numbers[acts[transition.id.index()] as usize],
                    target: transition.target.index() as u32,
                    id: transition.id,
                });
            }
            let end = machine.edges.len() as u32;
            machine.states.push((State::End, start, end));
        }
        machine.finish();
        machine.anchors = machine.entries();
        machine
    }

    /// Two machines with the same numbers: these, if they do the same actions.
    pub(crate) fn align(left: &Arc<Self>, right: &Arc<Self>) -> (Arc<Self>, Arc<Self>) {
        if left.names.actions == right.names.actions {
            return (Arc::clone(left), Arc::clone(right));
        }
        let all = left.names.actions.iter().chain(&right.names.actions);
        let names = Arc::new(Names::new(all.cloned().collect()));
        let renamed = |machine: &Self| {
            let numbers = numbers(&names, machine.names.actions.iter());
            let mut machine = machine.clone();
            for edge in &mut machine.edges {
                edge.act = numbers[edge.act as usize];
            }
            machine.names = Arc::clone(&names);
            machine.finish();
            Arc::new(machine)
        };
        (renamed(left), renamed(right))
    }

    /// Completes what follows from the edges.
    fn finish(&mut self) {
        let names = &self.names;
        self.kind_of = vec![0; self.edges.len()];
        self.sorted = (0..self.edges.len() as u32).collect();
        for (state, start, end) in &mut self.states {
            let range = *start as usize..*end as usize;
            let edges = &self.edges;
            self.sorted[range.clone()].sort_unstable_by_key(|&edge| edges[edge as usize].act);
            let edges = &edges[range];
            for edge in edges {
                self.kind_of[edge.id.index()] = names.kind_of[edge.act as usize];
            }
            if let Some(edge) = edges.first() {
                let kind = names.kind_of[edge.act as usize];
                *state = match names.is_send[kind as usize] {
                    true => State::Send(kind),
                    false => State::Receive(kind),
                };
            }
        }
    }

    fn entries(&self) -> Vec<bool> {
        let mut entries = vec![0_u8; self.len()];
        let mut seen = vec![false; self.len()];
        let mut open = vec![self.initial];
        seen[self.initial as usize] = true;
        while let Some(state) = open.pop() {
            for edge in self.edges(state) {
                let entries = &mut entries[edge.target as usize];
                *entries = entries.saturating_add(1);
                if !std::mem::replace(&mut seen[edge.target as usize], true) {
                    open.push(edge.target);
                }
            }
        }
        entries[self.initial as usize] = 2;
        entries.into_iter().map(|entries| entries > 1).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn state(&self, state: u32) -> State {
        self.states[state as usize].0
    }

    /// The edges that leave a state, in the order of the machine.
    pub(crate) fn edges(&self, state: u32) -> &[Edge] {
        let (_, start, end) = self.states[state as usize];
        &self.edges[start as usize..end as usize]
    }

    /// The edges that lead to a state, each with the state that it leaves. O(edges) for the first state, and known then.
    pub(crate) fn incoming(&self, state: u32) -> impl Iterator<Item = (u32, Edge)> {
        let Incoming { offsets, edges } = self.incoming.get_or_init(|| self.reversed());
        let range = offsets[state as usize] as usize..offsets[state as usize + 1] as usize;
        edges[range]
            .iter()
            .map(|&(source, edge)| (source, self.edges[edge as usize]))
    }

    fn reversed(&self) -> Incoming {
        let mut offsets = vec![0_u32; self.len() + 1];
        for edge in &self.edges {
            offsets[edge.target as usize + 1] += 1;
        }
        for state in 0..self.len() {
            offsets[state + 1] += offsets[state];
        }
        // Each range is filled from its end, which leaves the offset at its start.
        let mut free: Vec<u32> = offsets[1..].to_vec();
        let mut edges = vec![(0, 0); self.edges.len()];
        for (source, &(_, start, end)) in self.states.iter().enumerate() {
            for edge in start..end {
                let free = &mut free[self.edges[edge as usize].target as usize];
                *free -= 1;
                edges[*free as usize] = (source as u32, edge);
            }
        }
        Incoming { offsets, edges }
    }

    pub(crate) fn edge(&self, state: u32, act: Act) -> Option<Edge> {
        let (_, start, end) = self.states[state as usize];
        let (edges, range) = (&self.edges, start as usize..end as usize);
        if range.len() <= 8 {
            return edges[range].iter().find(|edge| edge.act == act).copied();
        }
        let sorted = &self.sorted[range];
        let index = sorted.binary_search_by_key(&act, |&edge| edges[edge as usize].act);
        Some(edges[sorted[index.ok()?] as usize])
    }
}

/// The numbers of actions that all have one.
fn numbers<'a>(names: &Names, actions: impl Iterator<Item = &'a Action>) -> Vec<Act> {
    let number = |action: &Action| match names.actions.binary_search(action) {
        Ok(number) | Err(number) => number as Act,
    };
    actions.map(number).collect()
}
