//! A machine with numbers instead of names, for algorithms on pairs of machines. It is made once
//! per [`Fsm`](crate::Fsm). Actions are numbered in their order, so two machines with the same
//! actions have the same numbers.

use std::sync::{Arc, OnceLock};

use hashbrown::{DefaultHashBuilder, HashMap};
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Action, StateId, Transition, TransitionId};

/// A peer and a direction, `p?` or `p!`. Dense.
pub(crate) type Kind = u32;

/// An action, `p!ℓ(S)`: equal ids are equal actions. Dense.
pub(crate) type Act = u32;

#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) actions: Vec<Action>,
    pub(crate) kind_of: Vec<Kind>,
    pub(crate) is_send: Vec<bool>,
}

/// A machine whose states each send to one peer or receive from one peer.
#[derive(Clone, Debug)]
pub(crate) struct InternedMachine {
    pub(crate) initial: u32,
    states: Vec<Node>,
    edges: Vec<Edge>,
    /// The positions of a state's edges, sorted by action; empty if all states have few edges.
    sorted: Vec<u32>,
    /// The positions of the edges that lead to each state, once they are needed.
    incoming: OnceLock<Groups>,
    pub(crate) names: Arc<Names>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    does: State,
    start: u32,
    end: u32,
    anchor: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    End,
    Receive(Kind),
    Send(Kind),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) source: u32,
    pub(crate) act: Act,
    pub(crate) target: u32,
    pub(crate) id: TransitionId,
}

/// Up to so many items are searched one by one; more are sorted or hashed.
const FEW: usize = 8;

impl Names {
    /// Numbers sorted and distinct actions in their order; each kind is contiguous.
    fn new(actions: Vec<Action>) -> Self {
        let mut kind_of = Vec::with_capacity(actions.len());
        let mut is_send = vec![];
        let is_same =
            |one: &Action, next: &Action| one.direction == next.direction && one.peer == next.peer;
        for of_kind in actions.chunk_by(is_same) {
            kind_of.resize(kind_of.len() + of_kind.len(), is_send.len() as Kind);
            is_send.push(of_kind[0].is_send());
        }
        Self { actions, kind_of, is_send }
    }
}

/// The actions met so far, in the order of meeting.
#[derive(Default)]
struct Met<'a> {
    actions: Vec<&'a Action>,
    places: HashMap<&'a Action, u32>,
}

impl<'a> Met<'a> {
    fn place(&mut self, action: &'a Action) -> u32 {
        let known = if self.actions.len() <= FEW {
            let place = self.actions.iter().position(|&met| met == action);
            place.map(|place| place as u32)
        } else {
            self.places.get(action).copied()
        };
        known.unwrap_or_else(|| {
            let next = self.actions.len() as u32;
            self.actions.push(action);
            if self.actions.len() > FEW {
                let unknown = self.places.len()..;
                let unknown = self.actions[unknown.clone()].iter().copied().zip(unknown);
                self.places.extend(unknown.map(|(action, place)| (action, place as u32)));
            }
            next
        })
    }
}

impl InternedMachine {
    /// Interns a directed machine with the transitions from each of its `states`. O(transitions),
    /// besides sorting the actions.
    pub(crate) fn new<'a, T>(initial: StateId, states: impl Iterator<Item = T>) -> Self
    where
        T: Iterator<Item = Transition<'a>>,
    {
        let mut met = Met::default();
        let (count, _) = states.size_hint();
        let mut nodes = Vec::with_capacity(count);
        let mut edges = Vec::with_capacity(count);
        for transitions in states {
            let start = edges.len() as u32;
            for transition in transitions {
                edges.push(Edge {
                    source: nodes.len() as u32,
                    act: met.place(transition.action),
                    target: transition.target.index() as u32,
                    id: transition.id,
                });
            }
            nodes.push(Node { does: State::End, start, end: edges.len() as u32, anchor: false });
        }

        let mut actions: Vec<(&Action, u32)> = met.actions.into_iter().zip(0..).collect();
        actions.sort_unstable();
        let mut numbers = vec![0; actions.len()];
        for (number, &(_, place)) in actions.iter().enumerate() {
            numbers[place as usize] = number as Act;
        }
        let actions = actions.into_iter().map(|(action, _)| action.clone());
        let mut machine = Self {
            initial: initial.index() as u32,
            states: nodes,
            edges,
            sorted: vec![],
            incoming: OnceLock::new(),
            names: Arc::new(Names::new(actions.collect())),
        };
        machine.number(&numbers);
        machine.find_anchors();
        machine
    }

    /// Two machines with the same numbers: these very ones if they do the same actions.
    pub(crate) fn align(left: &Arc<Self>, right: &Arc<Self>) -> (Arc<Self>, Arc<Self>) {
        if left.names.actions == right.names.actions {
            return (Arc::clone(left), Arc::clone(right));
        }
        let mut actions = left.names.actions.clone();
        actions.extend_from_slice(&right.names.actions);
        actions.sort();
        actions.dedup();
        let names = Arc::new(Names::new(actions));
        let renamed = |machine: &Self| {
            let number = |action| {
                let (Ok(number) | Err(number)) = names.actions.binary_search(action);
                number as Act
            };
            let numbers: Vec<Act> = machine.names.actions.iter().map(number).collect();
            let mut machine = Self { names: Arc::clone(&names), ..machine.clone() };
            machine.number(&numbers);
            Arc::new(machine)
        };
        (renamed(left), renamed(right))
    }

    /// Renumbers the actions on the edges, and completes what follows from the numbers.
    fn number(&mut self, numbers: &[Act]) {
        let names = &self.names;
        for edge in &mut self.edges {
            edge.act = numbers[edge.act as usize];
        }
        let mut many = false;
        for node in &mut self.states {
            let edges = &self.edges[node.start as usize..node.end as usize];
            many |= edges.len() > FEW;
            if let Some(edge) = edges.first() {
                let kind = names.kind_of[edge.act as usize];
                node.does = match names.is_send[kind as usize] {
                    true => State::Send(kind),
                    false => State::Receive(kind),
                };
            }
        }
        if many {
            self.sorted = (0..self.edges.len() as u32).collect();
            for node in &self.states {
                let sorted = &mut self.sorted[node.start as usize..node.end as usize];
                sorted.sort_by_key(|&edge| self.edges[edge as usize].act);
            }
        }
    }

    fn find_anchors(&mut self) {
        let mut is_reached = vec![false; self.states.len()];
        let mut open = vec![self.initial];
        is_reached[self.initial as usize] = true;
        self.states[self.initial as usize].anchor = true;
        while let Some(state) = open.pop() {
            let Node { start, end, .. } = self.states[state as usize];
            for edge in &self.edges[start as usize..end as usize] {
                if std::mem::replace(&mut is_reached[edge.target as usize], true) {
                    self.states[edge.target as usize].anchor = true;
                } else {
                    open.push(edge.target);
                }
            }
        }
    }

    /// True if a state is initial, or several transitions from reachable states lead to it. Every
    /// reachable loop has such a state, because it is entered from somewhere.
    pub(crate) fn is_anchor(&self, state: u32) -> bool {
        self.states[state as usize].anchor
    }

    /// Something about each transition, by its id.
    pub(crate) fn by_transition<T: Clone + Default>(&self, of: impl Fn(&Edge) -> T) -> Vec<T> {
        let mut all = vec![T::default(); self.edges.len()];
        for edge in &self.edges {
            all[edge.id.index()] = of(edge);
        }
        all
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn state(&self, state: u32) -> State {
        self.states[state as usize].does
    }

    pub(crate) fn edges(&self, state: u32) -> &[Edge] {
        let Node { start, end, .. } = self.states[state as usize];
        &self.edges[start as usize..end as usize]
    }

    /// The positions of the edges that lead to each state, in O(edges) once.
    pub(crate) fn incoming(&self) -> &Groups {
        let targets = self.edges.iter().map(|edge| edge.target);
        self.incoming.get_or_init(|| Groups::new(self.len(), targets))
    }

    pub(crate) fn nth_edge(&self, position: u32) -> &Edge {
        &self.edges[position as usize]
    }

    pub(crate) fn edge(&self, state: u32, act: Act) -> Option<Edge> {
        let Node { start, end, .. } = self.states[state as usize];
        let (edges, range) = (&self.edges, start as usize..end as usize);
        if range.len() <= FEW {
            return edges[range].iter().find(|edge| edge.act == act).copied();
        }
        let sorted = &self.sorted[range];
        let index = sorted.binary_search_by_key(&act, |&edge| edges[edge as usize].act);
        Some(edges[sorted[index.ok()?] as usize])
    }
}

/// A set in the order of insertion.
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, DefaultHashBuilder>;

/// A graph with so many nodes, and the edges between their numbers.
pub(crate) fn digraph<W>(
    nodes: usize,
    edges: impl Iterator<Item = (u32, u32, W)>,
) -> DiGraph<(), W> {
    let mut graph = DiGraph::with_capacity(nodes, edges.size_hint().0);
    for _ in 0..nodes {
        graph.add_node(());
    }
    let node = |node: u32| NodeIndex::new(node as usize);
    graph.extend_with_edges(edges.map(|(from, to, weight)| (node(from), node(to), weight)));
    graph
}

/// Walks from a node to the end, or until a node is met again: the steps before the loop, the steps
/// of the loop, and the last node.
pub(crate) fn lasso<S>(
    mut at: u32,
    onward: impl Fn(u32) -> Option<(S, u32)>,
) -> (Vec<S>, Vec<S>, u32) {
    let mut walk = vec![];
    let mut met = IndexSet::default();
    loop {
        let (start, is_new) = met.insert_full(at);
        if !is_new {
            let cycle = walk.split_off(start);
            return (walk, cycle, at);
        }
        let Some((step, next)) = onward(at) else { return (walk, vec![], at) };
        walk.push(step);
        at = next;
    }
}

/// Items numbered from 0 on, grouped by a number that each has.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    /// `group_of` has the group of each item, below `groups`. O(groups + items).
    pub(crate) fn new(
        groups: usize,
        group_of: impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone,
    ) -> Self {
        // First the ends of the groups; filling them backwards turns ends into starts.
        let mut starts = vec![0; groups + 1];
        for group in group_of.clone() {
            starts[group as usize] += 1;
        }
        let mut count = 0;
        for start in &mut starts {
            count += *start;
            *start = count;
        }
        let mut members = vec![0; count as usize];
        for (member, group) in group_of.enumerate().rev() {
            let start = &mut starts[group as usize];
            *start -= 1;
            members[*start as usize] = member as u32;
        }
        Self { starts, members }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    pub(crate) fn of(&self, group: u32) -> &[u32] {
        let group = group as usize;
        &self.members[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}
