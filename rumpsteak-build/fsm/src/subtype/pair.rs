//! Two machines with everything interned.

use std::collections::HashMap;

use crate::machine::{Action, Direction, Fsm, Role, StateId, TransitionId};

/// A peer and a direction, `p?` or `p!`: what the paper's act(π) collects. Dense.
pub(super) type Kind = u32;

/// An action, `p!ℓ(S)`: equal ids are equal actions. Dense.
pub(super) type Act = u32;

/// A pair of directed machines over one table of actions.
pub(super) struct Pair {
    pub(super) sub: Machine,
    pub(super) sup: Machine,
    /// The kind of each action.
    pub(super) kind_of: Vec<Kind>,
    /// Whether a kind is a send.
    pub(super) is_send: Vec<bool>,
}

pub(super) struct Machine {
    pub(super) initial: u32,
    /// By state: what it does, and where its edges are.
    states: Vec<(State, u32, u32)>,
    edges: Vec<Edge>,
    /// By transition.
    pub(super) kind_of: Vec<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    End,
    Receive(Kind),
    Send(Kind),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) act: Act,
    pub(super) target: u32,
    pub(super) id: TransitionId,
}

impl Pair {
    /// Interns two machines; both are directed.
    pub(super) fn new(sub: &Fsm, sup: &Fsm) -> Self {
        let mut names = Names::default();
        let sub = names.machine(sub);
        let sup = names.machine(sup);
        Self {
            sub,
            sup,
            kind_of: names.kind_of,
            is_send: names.is_send,
        }
    }

    pub(super) fn kind(&self, act: Act) -> Kind {
        self.kind_of[act as usize]
    }

    pub(super) fn sends(&self, kind: Kind) -> bool {
        self.is_send[kind as usize]
    }

    pub(super) fn kinds(&self) -> usize {
        self.is_send.len()
    }
}

impl Machine {
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn state(&self, state: u32) -> State {
        self.states[state as usize].0
    }

    /// The edges that leave a state, by increasing action.
    pub(super) fn edges(&self, state: u32) -> &[Edge] {
        let (_, start, end) = self.states[state as usize];
        &self.edges[start as usize..end as usize]
    }

    pub(super) fn edge(&self, state: u32, act: Act) -> Option<Edge> {
        let edges = self.edges(state);
        let index = edges.binary_search_by_key(&act, |edge| edge.act).ok()?;
        Some(edges[index])
    }
}

#[derive(Default)]
struct Names<'a> {
    kinds: HashMap<(&'a Role, Direction), Kind>,
    acts: HashMap<&'a Action, Act>,
    kind_of: Vec<Kind>,
    is_send: Vec<bool>,
}

impl<'a> Names<'a> {
    fn machine(&mut self, fsm: &'a Fsm) -> Machine {
        let mut machine = Machine {
            initial: fsm.initial().index() as u32,
            states: Vec::with_capacity(fsm.len()),
            edges: Vec::with_capacity(fsm.transition_count()),
            kind_of: vec![0; fsm.transition_count()],
        };
        for state in fsm.states() {
            machine.push(self, fsm, state);
        }
        machine
    }

    fn act(&mut self, action: &'a Action) -> Act {
        if let Some(&act) = self.acts.get(action) {
            return act;
        }
        let next = self.is_send.len() as Kind;
        let kind = *self
            .kinds
            .entry((&action.peer, action.direction))
            .or_insert(next);
        if kind == next {
            self.is_send.push(action.direction == Direction::Send);
        }
        let act = self.kind_of.len() as Act;
        self.kind_of.push(kind);
        self.acts.insert(action, act);
        act
    }
}

impl Machine {
    fn push<'a>(&mut self, names: &mut Names<'a>, fsm: &'a Fsm, state: StateId) {
        let start = self.edges.len();
        for transition in fsm.transitions_from(state) {
            let act = names.act(transition.action);
            self.kind_of[transition.id.index()] = names.kind_of[act as usize];
            self.edges.push(Edge {
                act,
                target: transition.target.index() as u32,
                id: transition.id,
            });
        }
        self.edges[start..].sort_unstable_by_key(|edge| edge.act);
        let state = match self.edges[start..].first() {
            None => State::End,
            Some(edge) => {
                let kind = names.kind_of[edge.act as usize];
                match names.is_send[kind as usize] {
                    true => State::Send(kind),
                    false => State::Receive(kind),
                }
            }
        };
        self.states
            .push((state, start as u32, self.edges.len() as u32));
    }
}
