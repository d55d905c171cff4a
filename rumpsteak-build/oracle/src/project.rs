//! Projection by the subset construction, and balance, on the graph of a protocol.
//!
//! The machine of a role is the graph of the protocol with the messages of others invisible: a
//! state is the set of all places where the protocol may be, as far as the role can tell (Li,
//! Stutz, Wies and Zufferey, CAV'23). Types are not merged here, so that the projection of
//! `rumpsteak-scribble` is compared with a different algorithm. A `par` is the product of its
//! parts.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_fsm::{Action, Fsm};

use crate::Global;
use crate::protocol::role_name;

/// Sender, receiver, label and payload.
type Message = (usize, usize, String, Option<&'static str>);

/// A place of a protocol: the places behind it, each after a message or at once.
type Node = Vec<(Option<Message>, usize)>;

/// A protocol as a graph in which every step is a message.
struct Graph(Vec<Vec<(Message, usize)>>);

fn is_party(role: usize, (from, to, ..): &Message) -> bool {
    *from == role || *to == role
}

fn action(role: usize, (from, to, label, payload): &Message) -> Action {
    let name = |role: usize| role_name(role).to_string();
    match *from == role {
        true => Action::send(name(*to), label.as_str(), payload.as_slice()),
        false => Action::receive(name(*from), label.as_str(), payload.as_slice()),
    }
}

impl Graph {
    fn new(global: &Global) -> Self {
        let mut nodes = vec![];
        flatten(global, &mut vec![], &mut nodes);
        let messages = |start: usize| {
            let at_once = |node: &usize| {
                let next = nodes[*node].iter().filter(|(message, _)| message.is_none());
                next.map(|(_, next)| *next).collect()
            };
            let edges = closure([start], at_once).into_iter().flat_map(|node| nodes[node].clone());
            edges.filter_map(|(message, next)| Some((message?, next))).collect()
        };
        Self((0..nodes.len()).map(messages).collect())
    }

    /// The places from which some path leads to a message of the role: a least fixed point.
    fn reaching(&self, role: usize) -> Vec<bool> {
        let mut reaching = vec![false; self.0.len()];
        loop {
            let step = |edges: &Vec<(Message, usize)>| {
                edges.iter().any(|(message, next)| is_party(role, message) || reaching[*next])
            };
            let next: Vec<bool> = self.0.iter().map(step).collect();
            if next == reaching {
                return reaching;
            }
            reaching = next;
        }
    }

    fn unseen(&self, role: usize, node: usize) -> Vec<usize> {
        let others = self.0[node].iter().filter(|(message, _)| !is_party(role, message));
        others.map(|(_, next)| *next).collect()
    }

    fn sends(&self, role: usize, node: usize) -> impl Iterator<Item = &Message> {
        self.0[node].iter().map(|(message, _)| message).filter(move |(from, ..)| *from == role)
    }
}

fn closure(
    starts: impl IntoIterator<Item = usize>,
    next: impl Fn(&usize) -> Vec<usize>,
) -> BTreeSet<usize> {
    let (mut seen, mut pending) = (BTreeSet::new(), Vec::from_iter(starts));
    while let Some(node) = pending.pop() {
        if seen.insert(node) {
            pending.extend(next(&node));
        }
    }
    seen
}

impl Global {
    /// The [machine](Self::machine) of `role` if it is directed.
    pub fn project(&self, role: usize) -> Option<Fsm> {
        self.machine(role).filter(|fsm| fsm.check_directed().is_ok())
    }

    /// The machine of `role`; `None` if the role cannot know its next action: to end or to
    /// continue, or to send a message of one branch only; or if the protocol has interrupts.
    ///
    /// The machine need not be safe among the others: explore it.
    pub fn machine(&self, role: usize) -> Option<Fsm> {
        let graph = Graph::new(self);
        // The role has ended once it takes no further part, whether the protocol ends there or
        // others go on for ever: `b` in `choice at d { l() from d to c; rec X { m() from d to c;
        // continue X; } } or { r() from d to c; x() from e to b; }`. All roles together may still
        // be safe, if `e` sends `x` whatever `d` chooses, but they do more than the protocol
        // allows.
        let goes_on = graph.reaching(role);
        let unseen =
            |node: &usize| if goes_on[*node] { graph.unseen(role, *node) } else { Vec::new() };
        let mut builder = Fsm::builder(role_name(role).to_string());
        let start = closure([0], unseen);
        let initial = builder.add_state();
        let mut ids = BTreeMap::from([(start.clone(), initial)]);
        let mut pending = vec![start];
        while let Some(places) = pending.pop() {
            let mut targets: BTreeMap<Action, Vec<usize>> = BTreeMap::new();
            let edges = places.iter().flat_map(|&place| &graph.0[place]);
            for (message, next) in edges.filter(|(message, _)| is_party(role, message)) {
                targets.entry(action(role, message)).or_default().push(*next);
            }
            // The role may have ended, but it may also continue; or it may send only in some runs.
            let is_unknown = |&place: &usize| {
                let later = closure([place], unseen);
                let is_sent = |message: &Message| {
                    later.iter().any(|&later| graph.sends(role, later).any(|it| it == message))
                };
                let mut sends = places.iter().flat_map(|&place| graph.sends(role, place));
                !goes_on[place] || !sends.all(is_sent)
            };
            if !targets.is_empty() && places.iter().any(is_unknown) {
                return None;
            }
            for (action, next) in targets {
                let next = closure(next, unseen);
                let target = *ids.entry(next.clone()).or_insert_with(|| {
                    pending.push(next);
                    builder.add_state()
                });
                builder.add_transition(ids[&places], action, target);
            }
        }
        Some(builder.build(initial))
    }

    /// Returns true if each role that occurs later occurs after a bounded number of messages,
    /// whatever is chosen.
    ///
    /// In an unbalanced protocol a role may wait while others choose to stay in a loop. A subtype
    /// that never leaves the loop then starves it. In a balanced protocol, subtyping preserves that
    /// every role is served.
    pub fn is_balanced(&self) -> bool {
        let graph = Graph::new(self);
        let messages = graph.0.iter().flatten().map(|((from, to, ..), _)| from.max(to) + 1);
        (0..messages.max().unwrap_or(0)).all(|role| {
            let occurs = graph.reaching(role);
            // Greatest fixed point: some path, endless or to the end, has no message of the role.
            let mut avoids = vec![true; occurs.len()];
            loop {
                let step = |node: usize| {
                    let mut unseen = graph.unseen(role, node).into_iter();
                    graph.0[node].is_empty() || unseen.any(|next| avoids[next])
                };
                let next: Vec<bool> = (0..avoids.len()).map(step).collect();
                if next == avoids {
                    break;
                }
                avoids = next;
            }
            !occurs.iter().zip(avoids).any(|(occurs, avoids)| *occurs && avoids)
        })
    }
}

/// Adds the protocol to `nodes`; returns the node that it starts with. `loops` are the loops in
/// scope.
fn flatten(global: &Global, loops: &mut Vec<(usize, usize)>, nodes: &mut Vec<Node>) -> usize {
    let index = nodes.len();
    nodes.push(vec![]);
    match global {
        Global::End => {}
        Global::Message { from, to, label, payload, then } => {
            let next = flatten(then, loops, nodes);
            nodes[index].push((Some((*from, *to, label.clone(), *payload)), next));
        }
        Global::Choice { branches, .. } => {
            for branch in branches {
                let next = flatten(branch, loops, nodes);
                nodes[index].push((None, next));
            }
        }
        Global::Rec { name, body } => {
            loops.push((*name, index));
            let next = flatten(body, loops, nodes);
            nodes[index].push((None, next));
            loops.pop();
        }
        Global::Continue(name) => {
            let target = loops.iter().rev().find(|(known, _)| known == name);
            nodes[index].extend(target.map(|(_, target)| (None, *target)));
        }
        Global::Block { parts, interrupts, then } => {
            assert!(interrupts.is_empty(), "interrupts are not projected here");
            // No part continues a loop around it.
            let parts: Vec<Graph> = parts.iter().map(Graph::new).collect();
            let start = vec![0; parts.len()];
            let mut ids = BTreeMap::from([(start.clone(), index)]);
            let mut pending = vec![start];
            let then = flatten(then, loops, nodes);
            while let Some(places) = pending.pop() {
                let id = ids[&places];
                for (part, &place) in places.iter().enumerate() {
                    for (message, next) in &parts[part].0[place] {
                        let mut places = places.clone();
                        places[part] = *next;
                        let next = *ids.entry(places.clone()).or_insert_with(|| {
                            pending.push(places);
                            nodes.push(vec![]);
                            nodes.len() - 1
                        });
                        nodes[id].push((Some(message.clone()), next));
                    }
                }
                if places.iter().zip(&parts).all(|(&place, part)| part.0[place].is_empty()) {
                    nodes[id].push((None, then));
                }
            }
        }
    }
    index
}
