#![doc = include_str!("shuffle.md")]

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
    let sends_later = |part: &Local| part.leads_to(&|_| true, part.states_with(&is_send));
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
