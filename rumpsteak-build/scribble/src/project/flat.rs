//! Protocols with blocks that are safe by construction. The same protocol is judged without its
//! blocks:
//!
//! ```text
//!   par { G } and { H } K                             G H K
//!   interruptible { G } with { cancel() by c; } K     G K
//! ```
//!
//! The machines of [`blocks`](super::blocks) are safe if this *flat* protocol can be projected
//! (CAV'23), each of its machines waits for one role at a time, each role that does not know yet
//! whether a block begins does so too, no block is inside another one, and no two parts of a `par`
//! share both a sender and its receiver. This decides what no exploration can: streams whose queues
//! grow for ever.
//!
//! # Why
//!
//! *`par`.* Take each part of a role's machine for a process of its own. It starts where the block
//! begins, and the end of the block waits for it. Each queue has one writer and one reader at a
//! time, since the parts share no pair, and each process waits for one queue at a time. This is a
//! network in the sense of Kahn (*The semantics of a simple language for parallel programming*,
//! 1974): given the choices of each process, the sequence that goes through each queue is the same
//! for every schedule, and it can only get longer if a process waits for less. The machines of the
//! flat protocol are the same network, except that each part of a role waits for the role's parts
//! before it. A run of the shuffled machines makes finitely many choices, and the flat machines can
//! make the same choices. A role's part then waits, beyond its queue, only for the end of a part
//! before it, and this end is reachable, since the role has something to do behind it (code S0404).
//! So the flat machines reach a configuration in which the whole run has been done, and go on from
//! there: each waiting role moves, and each message is received. So do the shuffled machines.
//!
//! A role may choose between a block and a message, or learn from its first message in the block
//! that the block begins. Its process then decides, or waits for one queue, as in the flat
//! protocol, and begins its parts after that: a role that waits takes part in one part only, since
//! it waits for one role and the parts share no pair.
//!
//! A block that only an interrupt ends hides what follows it. So the flat protocol has to be right
//! with such blocks as they are, and also with the interrupt in their place.
//!
//! *`interruptible`.* Without an interrupt the machines are those of the flat protocol. Suppose an
//! interrupt has stopped some processes and not the others. Freeze the stopped ones: this is a
//! configuration of the flat machines, except for messages that stopped processes drop. There the
//! flat machines can go on until any given message is received. Do the same until a process needs a
//! message from a frozen role. It has received everything that this role did send, and the role's
//! interrupt comes next. It waits for this role only, so it takes the interrupt and is stopped as
//! well. This continues until all are stopped, or until everything that an interrupter sent before
//! its interrupt is received. A stopped process has sent an interrupt to all its receivers before
//! it waits, whichever interrupt stopped it, so all of them drop the messages up to that.
//!
//! All processes are stopped, since no role considers itself safe from an interrupt that was sent:
//! on every path to the end of the flat protocol the interrupter still had to send something to
//! each role, and never sent it.
//!
//! *What is around a block.* An interrupt is the last message of the block for its pair. In a block
//! a role waits for the one role from which it has something to receive in the block, and for the
//! interrupters whose last message it has not received. If any of these has gone on to what follows
//! the block, it has sent that message before. So a message that is sent behind the block is never
//! received in it.

use std::collections::BTreeSet;

use hashbrown::HashSet;
use rumpsteak_fsm::Action;

use super::projection::{Projection, project};
use super::validity::can_end;
use crate::diagnostics::Name;
use crate::global::automaton::{Block, Edge, Global, Letter};
use crate::index::{NONE, index};
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
        let mut pairs = BTreeSet::new();
        // Backwards: each part leads to the start of the next one.
        for (position, part) in parts.iter().enumerate().rev().filter(|_| !is_ended) {
            let letters = part.all_edges().map(|edge| part.letter(edge));
            let of_part: BTreeSet<(u32, u32)> = letters.map(|l| (l.from, l.to)).collect();
            if of_part.iter().any(|&pair| pair.0 == NONE || !pairs.insert(pair)) {
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
