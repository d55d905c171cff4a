//! The machine of a role in a `par`: the shuffle of its machines in the parts.
//!
//! # A send comes before a receive
//! If no part loops, what the role may send at once comes before what it receives, and the sends of
//! several parts are in the order of the parts. So no two roles wait for each other's greeting. The
//! annotation `@"race"` of a message lifts this for its sender, which may then receive first.
//!
//! The order takes away runs only, and none of them is needed. Each part is finite, so the role
//! does the same actions in the end. A send never waits: a configuration of the ordered machine
//! that is stuck is one in which the role cannot send, and there the shuffle offers the same
//! receives. So an argument about all orders ([`flat`](super::flat)) holds for this one.
//!
//! A hand-written machine may have another order, if it is safe with the other roles as they are:
//! [`Projection::in_any_order`](super::projection::Projection::in_any_order).
//!
//! An interrupter may interrupt while it has something to send, so nothing is ordered for it.
//!
//! # Gathers
//! If the role does nothing but receive until the block ends, from another peer in each part, the
//! next messages of all parts are a *gather*. Generated code receives them in any order. The
//! machine receives them in the order of the parts, and its states are marked: n states instead of
//! 2ⁿ. All judgements are about this machine. That suffices:
//!
//! Let `fixed` be the system with the machine, and `any` the same system with a machine that
//! receives the messages in any order. In a gather the role sends nothing, so its peers cannot tell
//! how far it is. Each run of `any` has a counterpart in `fixed`: the other roles do the same, and
//! the role receives as much as it can in the fixed order. So the other roles are in the same
//! states, and each queue to the role holds the messages of the other run or more of them.
//! * *Deadlock.* If `any` is stuck while the messages of the peers R are due, the queues from all
//!   of R are empty, and no peer can move. In the counterpart the role waits for a peer of R, too.
//! * *A wrong message.* If the head of the queue from a peer of R is wrong in `any`, it is in the
//!   queue in the counterpart too, and the role has not received from this peer. It receives the
//!   wrong message in `fixed`, unless it waits for another peer for ever. Both are refused.
//! * *The end.* When all messages have come, both are in the same configuration. If `fixed` is
//!   safe, it can reach the end of the gather from each configuration, and in each run in which it
//!   always does, so does `any`. So what is received eventually in `fixed` is in `any`, too, and
//!   `any` is safe if another gather, of this or of another role, was any order before.
//! * *Capacities.* No queue of `any` is longer than in the counterpart. If a full queue makes its
//!   sender wait, `any` only receives earlier.
//!
//! The fixed order is a run of `any`, so `any` is safe only if `fixed` is. With several messages of
//! one part, a gather of all first messages is followed by a gather of all second ones: this again
//! takes away runs of a role that only receives.
//!
//! If other messages may come in the state in which a gather begins, the first message of the
//! gather is any of its messages, and only the others are a gather: [`Local::splice`].

use std::iter;

use hashbrown::{HashMap, HashSet};
use petgraph::algo::is_cyclic_directed;
use petgraph::graph::DiGraph;

use super::local::{Edge, Local};
use crate::diagnostics::Span;
use crate::limits::Limits;

#[derive(Clone, Copy, Debug)]
pub(super) struct Order<'a> {
    /// The messages with `@"race"`.
    pub(super) raced: Option<&'a HashSet<Span>>,
    /// True if sends come first.
    pub(super) sends_first: bool,
    /// True if messages may be gathered: no interrupt comes between them.
    pub(super) gathers: bool,
}

/// The orders of the parts, as far as the limits allow.
pub(super) fn shuffle(parts: &[Local], order: Order<'_>, limits: &Limits) -> Local {
    if let [part] = parts {
        return part.clone();
    }
    let is_finite = !parts.iter().any(loops);
    let Order { raced, sends_first, gathers } = order;
    let (sends_first, gathers) = (sends_first && is_finite, gathers && is_finite);
    let is_send = |edge: &Edge| edge.action.is_send();
    let sends_later = |part: &Local| part.leads_to(|_| true, part.states_with(is_send));
    // For each state of a part true if the role may still send.
    let sends: Vec<Vec<bool>> = parts.iter().map(sends_later).collect();
    let mut local = Local::default();
    let start = vec![0; parts.len()];
    let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
    numbers.insert(start.clone(), local.add());
    let mut pending = vec![start];
    while let Some(states) = pending.pop().filter(|_| local.exceeded(limits).is_none()) {
        let source = numbers[&states];
        let mut enter = |local: &mut Local, next: Vec<u32>| {
            *numbers.entry(next).or_insert_with_key(|next| {
                pending.push(next.clone());
                local.add()
            })
        };
        let edges = |part: usize| parts[part].edges(states[part]);
        let live: Vec<usize> = (0..parts.len()).filter(|&part| !edges(part).is_empty()).collect();
        let only_receives = |&part: &usize| !sends[part][states[part] as usize];
        if gathers && live.len() > 1 && live.iter().all(only_receives) {
            let messages: Vec<&[Edge]> = live.iter().map(|&part| edges(part)).collect();
            if is_gather(&messages) {
                let mut next = states.clone();
                live.iter().for_each(|&part| next[part] = edges(part)[0].target);
                let end = enter(&mut local, next);
                local.gather(source, &messages, end);
                continue;
            }
        }
        let first = live.iter().filter(|_| sends_first).find(|&&part| {
            edges(part).iter().all(|edge| {
                let is_raced =
                    || edge.origins.iter().any(|at| raced.is_some_and(|of| of.contains(at)));
                edge.action.is_send() && !is_raced()
            })
        });
        let due = first.map_or(&live[..], std::slice::from_ref);
        for (part, Edge { action, target, origins }) in
            due.iter().flat_map(|&part| iter::repeat(part).zip(edges(part)))
        {
            let mut next = states.clone();
            next[part] = *target;
            let target = enter(&mut local, next);
            local.connect(source, action.clone(), target, origins.clone());
        }
    }
    local
}

fn loops(part: &Local) -> bool {
    let edges = part.all_edges().map(|(state, edge)| (state, edge.target));
    is_cyclic_directed(&DiGraph::<(), ()>::from_edges(edges))
}

/// True if each of the states with these edges receives from one peer, and from another one than
/// the other states, and goes on in the same way whatever comes.
fn is_gather(states: &[&[Edge]]) -> bool {
    let mut peers = HashSet::new();
    states.iter().all(|edges| {
        let alike = |edge: &Edge| {
            edge.target == edges[0].target && edge.action.peer == edges[0].action.peer
        };
        edges.iter().all(alike) && peers.insert(&edges[0].action.peer)
    })
}
