//! Projection by the subset construction, and balance, on the graph of a protocol.
//!
//! The machine of a role is the graph of the protocol with the messages of others invisible: a
//! state is the set of all places where the protocol may be, as far as the role can tell (Li,
//! Stutz, Wies and Zufferey, CAV'23). Types are not merged here, so that the projection of
//! `rumpsteak-scribble` is compared with a different algorithm.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_fsm::{Action, Fsm};

use crate::Global;
use crate::protocol::role_name;

/// A protocol as a graph: the nodes are its messages, ends, choices and loops.
struct Node {
    /// Sender, receiver, label and payload.
    message: Option<(usize, usize, String, Option<&'static str>)>,
    next: Vec<usize>,
}

impl Global {
    /// The machine of `role`; `None` if the role cannot know its next action: to end or to
    /// continue, to send a message of one branch only, or to choose between directions or peers.
    ///
    /// The machine need not be safe among the others: explore it.
    pub fn project(&self, role: usize) -> Option<Fsm> {
        let nodes = graph(self);
        let party = |node: &Node| {
            node.message.as_ref().is_some_and(|(from, to, ..)| *from == role || *to == role)
        };
        // The role has ended once it takes no further part, whether the protocol ends there or
        // others go on for ever: `b` in `choice at d { l() from d to c; rec X { m() from d to c;
        // continue X; } } or { r() from d to c; x() from e to b; }`. All roles together may still
        // be safe, if `e` sends `x` whatever `d` chooses, but they do more than the protocol
        // allows.
        let goes_on = reaching(&nodes, &party);
        // The places to which others can bring the protocol, where the role takes part or has
        // ended.
        let closure = |starts: &mut dyn Iterator<Item = usize>| {
            let mut seen = BTreeSet::new();
            let mut pending: Vec<usize> = starts.collect();
            while let Some(node) = pending.pop() {
                if seen.insert(node) && goes_on[node] && !party(&nodes[node]) {
                    pending.extend(&nodes[node].next);
                }
            }
            seen.retain(|&node| party(&nodes[node]) || !goes_on[node]);
            seen
        };

        let mut builder = Fsm::builder(role_name(role).to_string());
        let start = closure(&mut [0].into_iter());
        let initial = builder.add_state();
        let mut ids = BTreeMap::from([(start.clone(), initial)]);
        let mut pending = vec![start];
        while let Some(places) = pending.pop() {
            let mut targets: BTreeMap<Action, Vec<usize>> = BTreeMap::new();
            let taking_part = places.iter().filter(|&&place| goes_on[place]);
            for &place in taking_part {
                let Some((from, to, label, payload)) = &nodes[place].message else { continue };
                let action = match *from == role {
                    true => {
                        Action::send(role_name(*to).to_string(), label.as_str(), payload.as_slice())
                    }
                    false => Action::receive(
                        role_name(*from).to_string(),
                        label.as_str(),
                        payload.as_slice(),
                    ),
                };
                targets.entry(action).or_default().extend(&nodes[place].next);
            }
            // The role may have ended, but it may also continue.
            if !targets.is_empty() && places.iter().any(|&place| !goes_on[place]) {
                return None;
            }
            for (action, next) in targets {
                let next = closure(&mut next.into_iter());
                let source = ids[&places];
                let target = match ids.get(&next) {
                    Some(&id) => id,
                    None => {
                        let id = builder.add_state();
                        ids.insert(next.clone(), id);
                        pending.push(next);
                        id
                    }
                };
                builder.add_transition(source, action, target);
            }
        }
        let fsm = builder.build(initial);
        let decided = ids.keys().all(|places| sends_are_decided(&nodes, role, places, &party));
        (decided && fsm.check_directed().is_ok()).then_some(fsm)
    }

    /// Returns true if each role that occurs later occurs after a bounded number of messages,
    /// whatever is chosen.
    ///
    /// In an unbalanced protocol a role may wait while others choose to stay in a loop. A subtype
    /// that never leaves the loop then starves it. In a balanced protocol, subtyping preserves that
    /// every role is served.
    pub fn is_balanced(&self) -> bool {
        let nodes = graph(self);
        let messages = nodes.iter().filter_map(|node| node.message.as_ref());
        let roles = messages.map(|(from, to, ..)| from.max(to) + 1).max();

        (0..roles.unwrap_or(0)).all(|role| {
            let is_party = |node: &Node| {
                node.message.as_ref().is_some_and(|(from, to, ..)| *from == role || *to == role)
            };
            let occurs = reaching(&nodes, &is_party);
            // Greatest fixed point: some path, endless or to the end, has no message of the role.
            let mut avoids: Vec<bool> = nodes.iter().map(|node| !is_party(node)).collect();
            loop {
                let mut changed = false;
                for (index, node) in nodes.iter().enumerate() {
                    if avoids[index]
                        && !node.next.is_empty()
                        && !node.next.iter().any(|&next| avoids[next])
                    {
                        avoids[index] = false;
                        changed = true;
                    }
                }
                if !changed {
                    break;
                }
            }
            (0..nodes.len()).all(|index| !(occurs[index] && avoids[index]))
        })
    }
}

/// The nodes from which some path leads to a message of the role: a least fixed point.
fn reaching(nodes: &[Node], is_party: &dyn Fn(&Node) -> bool) -> Vec<bool> {
    let mut reaching: Vec<bool> = nodes.iter().map(is_party).collect();
    loop {
        let mut changed = false;
        for (index, node) in nodes.iter().enumerate() {
            if !reaching[index] && node.next.iter().any(|&next| reaching[next]) {
                reaching[index] = true;
                changed = true;
            }
        }
        if !changed {
            return reaching;
        }
    }
}

/// Returns true if `role` may send the same messages in all of `places`: they must not depend on
/// choices of others that the role does not know. The role's own choices do not count, so a place
/// is joined with the places that the same own choice offers.
fn sends_are_decided(
    nodes: &[Node],
    role: usize,
    places: &BTreeSet<usize>,
    party: &dyn Fn(&Node) -> bool,
) -> bool {
    let sends = |places: &mut dyn Iterator<Item = usize>| -> BTreeSet<Action> {
        places
            .filter_map(|place| nodes[place].message.as_ref())
            .filter(|(from, ..)| *from == role)
            .map(|(_, to, label, payload)| {
                Action::send(role_name(*to).to_string(), label.as_str(), payload.as_slice())
            })
            .collect()
    };
    let all = sends(&mut places.iter().copied());
    if all.is_empty() {
        return true;
    }
    // Each place belongs to the choice that leads to it, or stands for itself.
    places.iter().all(|&place| {
        let choice = nodes.iter().find(|node| {
            node.message.is_none() && node.next.len() > 1 && node.next.contains(&place)
        });
        let offered = match choice {
            Some(choice) if choice.next.iter().all(|&next| party(&nodes[next])) => {
                sends(&mut choice.next.iter().copied())
            }
            _ => sends(&mut [place].into_iter()),
        };
        offered == all
    })
}

fn graph(global: &Global) -> Vec<Node> {
    let mut nodes = vec![];
    flatten(global, &mut vec![], &mut nodes);
    nodes
}

/// Adds the protocol to `nodes`; returns the node that it starts with. `loops` are the loops in
/// scope.
fn flatten(global: &Global, loops: &mut Vec<(usize, usize)>, nodes: &mut Vec<Node>) -> usize {
    let index = nodes.len();
    nodes.push(Node { message: None, next: vec![] });
    match global {
        Global::End => {}
        Global::Message { from, to, label, payload, then } => {
            nodes[index].message = Some((*from, *to, label.clone(), *payload));
            let next = flatten(then, loops, nodes);
            nodes[index].next.push(next);
        }
        Global::Choice { branches, .. } => {
            for branch in branches {
                let next = flatten(branch, loops, nodes);
                nodes[index].next.push(next);
            }
        }
        Global::Rec { name, body } => {
            loops.push((*name, index));
            let next = flatten(body, loops, nodes);
            nodes[index].next.push(next);
            loops.pop();
        }
        Global::Block { .. } => unreachable!("only protocols without blocks are projected here"),
        Global::Continue(name) => {
            let target = loops.iter().rev().find(|(known, _)| known == name);
            nodes[index].next.extend(target.map(|(_, target)| *target));
        }
    }
    index
}
