#![doc = include_str!("flat.md")]

use hashbrown::HashSet;
use rumpsteak_fsm::Action;

use super::projection::{Projection, project};
use super::validity::can_end;
use crate::diagnostics::Name;
use crate::global::automaton::{Block, Edge, Global, Letter};
use crate::index::{IndexSet, NONE, index};
use crate::limits::Limits;
use crate::names::program::Interrupt;
use crate::syntax::ast::Link;

/// True if the machines of the protocol are safe by construction. If false, they may still be safe.
pub(crate) fn is_safe(global: &Global, names: &[Name], limits: &Limits) -> bool {
    let (Some(flat), Some(ended)) = (flatten(global, false), flatten(global, true)) else {
        return false;
    };
    let parts = global.blocks.iter().flat_map(|block| &block.parts);
    let mut automata = [&flat, &ended].into_iter().chain(parts);
    automata.all(|automaton| {
        (0..).zip(names).all(|(role, name)| {
            project(automaton, role, name.span, limits).is_ok_and(|Projection { fsm, .. }| {
                let actions = |state| fsm.transitions_from(state).map(|found| found.action);
                fsm.states().all(|state| waits_for_one(actions(state)))
            })
        })
    })
}

/// True if a state with these actions sends only, or receives only, and that from one role.
pub(super) fn waits_for_one<'a>(actions: impl Iterator<Item = &'a Action>) -> bool {
    let received = |action: &'a Action| (!action.is_send()).then_some(&action.peer);
    actions.map(received).collect::<HashSet<_>>().len() <= 1
}

/// The protocol without its blocks: their parts one after the other. `None` if a block is inside
/// another one, does nothing, has parts that share both a sender and its receiver, or has an
/// interrupt with `via` or `answered`. If `ended`, each block that only an interrupt ends is
/// interrupted at once.
fn flatten(global: &Global, ended: bool) -> Option<Global> {
    let (mut states, mut letters) = (global.states.clone(), global.letters.clone());
    let edges = global.states.iter().enumerate();
    let edges = edges.flat_map(|(state, edges)| edges.iter().map(move |edge| (state, edge)));
    for (state, edge) in edges {
        let letter = global.letter(edge);
        if letter.from != NONE {
            continue;
        }
        let Block { parts, interrupts, ends, span } = &global.blocks[letter.message as usize];
        if interrupts.iter().any(|of| !of.via.is_empty() || of.answer.is_some()) {
            return None;
        }
        let mut next = edge.target;
        if let (Some(&Interrupt { by: from, message, .. }), true) =
            (interrupts.first(), ended && !ends)
        {
            let participants = &global.participants[letter.message as usize];
            let others = participants.ones().map(index).filter(|&role| role != from);
            for to in others.collect::<Vec<_>>().into_iter().rev() {
                letters.push(Letter { from, to, message, link: Link::Needs });
                let letter = index(letters.len() - 1);
                states.push(vec![Edge { letter, target: next, origins: vec![*span] }]);
                next = index(states.len() - 1);
            }
        }
        let is_ended = next != edge.target;
        let mut pairs = IndexSet::default();
        // Backwards: each part leads to the start of the next one.
        for (position, part) in parts.iter().enumerate().rev().filter(|_| !is_ended) {
            let of_others = pairs.len();
            let mut letters = part.all_edges().map(|edge| part.letter(edge));
            if letters.any(|l| l.from == NONE || pairs.insert_full((l.from, l.to)).0 < of_others) {
                return None;
            }
            if part.edges(0).is_empty() {
                continue;
            }
            let can_end = can_end(part);
            let ends = can_end.contains(&true);
            // A part that never ends hides the parts behind it. If only some states of a part can
            // end, a role may be done with its part while others never are.
            if ends && can_end.contains(&false) || !ends && position + 1 < parts.len() {
                return None;
            }
            let start = index(states.len());
            let number = |inner| if part.edges(inner).is_empty() { next } else { start + inner };
            let shift = |edge: &Edge| Edge { target: number(edge.target), ..edge.clone() };
            let shift_all = |edges: &Vec<Edge>| edges.iter().map(shift).collect();
            states.extend(part.states.iter().map(shift_all));
            next = start;
        }
        if next == edge.target {
            return None;
        }
        // The first part begins in the state of the block, beside the other branches of a choice.
        let first = states[next as usize].clone();
        states[state].retain(|other| other.letter != edge.letter);
        states[state].extend(first);
    }
    Some(global.with_states(states, letters))
}
