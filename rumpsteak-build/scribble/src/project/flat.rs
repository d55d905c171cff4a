//! Protocols with blocks that are safe by construction: what is judged is the same protocol without
//! its blocks.
//!
//! ```text
//!   par { G } and { H } K                             G H K
//!   interruptible { G } with { cancel() by c; } K     G K
//! ```
//!
//! If this *flat* protocol can be projected (CAV'23), each of its machines waits for one role at a
//! time, no block is inside of another one, and the parts of a `par` share no sender with its
//! receiver, then the machines of [`blocks`](super::blocks) are safe. This decides what no
//! exploration can: streams whose queues grow for ever.
//!
//! # Why
//!
//! *`par`.* Take each part of a role's machine for a process of its own, started where the block
//! begins and waited for where it ends. Each queue is written by one process at a time and read by
//! one at a time, for the parts share no pair; and each process waits for one queue at a time. This
//! is a network as of Kahn (*The semantics of a simple language for parallel programming*, 1974):
//! given what each process chooses, what goes through each queue is one sequence, whatever the
//! schedule, and it can only get longer if a process waits for less. The machines of the flat
//! protocol are the same network in which each part of a role waits for the role's parts before it.
//! A run of the shuffled machines makes finitely many choices. The flat machines can make the same:
//! whatever a role's part waits for beyond that is the end of a part before it, which can be
//! reached, since the role has something to do behind it (code S0404). So they come to a
//! configuration in which all of the run has been done, and go on from there: each waiting role
//! moves, each message is received. So it is with the shuffled machines.
//!
//! A block that only an interrupt ends hides what follows it. So the flat protocol has to be right
//! with such blocks as they are, and with the interrupt in their place.
//!
//! *`interruptible`.* Without an interrupt the machines are those of the flat protocol. Let some
//! processes be stopped by one, and the others not. Freeze those that are stopped: this is a
//! configuration of the flat machines, but for messages that stopped processes drop. There the flat
//! machines can go on until a message that one likes is received. Let the same be done until
//! somebody needs a message that a frozen role would send. It has received all that this role did
//! send, and the role's interrupt comes next; it waits for this role only, so it takes the
//! interrupt, and is stopped as well. So it goes on until all are stopped, or what comes from an
//! interrupter before its interrupt is received. Who is stopped has sent an interrupt to all whom
//! it sends to before it waits, whichever interrupt it was stopped by, so all drop what there is up
//! to that.
//!
//! All are stopped, since nobody takes itself for safe from an interrupt that was sent: the
//! interrupter had something to say to each role on every way to the end of the flat protocol, and
//! never said it.
//!
//! *What is around a block.* An interrupt is the last message of the block for its pair. In a block
//! a role waits for the one role that it has something to receive from in the block, and for those
//! interrupters whose last message it has not heard: all of these, if they have gone on to what
//! follows, have sent that before. So nothing that is sent behind the block is taken in it.
//!
//! Every random protocol that is accepted like this is explored by the oracle.

use std::collections::BTreeSet;

use rumpsteak_fsm::{Direction, Fsm};

use super::projection::project;
use super::validity::can_end;
use crate::diagnostics::span::Name;
use crate::global::automaton::{Block, Edge, Global, Letter};
use crate::index::{NONE, index};
use crate::limits::Limits;
use crate::syntax::ast::Link;

/// Whether the machines of the protocol are safe by construction. If not, nothing is known.
pub(crate) fn is_safe(global: &Global, names: &[Name], limits: &Limits) -> bool {
    let (Some(flat), Some(ended)) = (flatten(global, false), flatten(global, true)) else {
        return false;
    };
    let parts = global.blocks.iter().flat_map(|block| &block.parts);
    let mut automata = [&flat, &ended].into_iter().chain(parts);
    automata.all(|automaton| {
        (0..).zip(names).all(|(role, name)| {
            let projected = project(automaton, role, name.span, limits);
            projected.is_ok_and(|found| waits_for_one(&found.fsm))
        })
    })
}

/// Whether each state that receives does so from one role, and sends nothing.
fn waits_for_one(fsm: &Fsm) -> bool {
    fsm.states().all(|state| {
        let actions = || fsm.transitions_from(state).map(|found| found.action);
        let mut received = actions().filter(|action| action.direction == Direction::Receive);
        received.next().is_none_or(|first| {
            actions().all(|other| (&other.peer, other.direction) == (&first.peer, first.direction))
        })
    })
}

/// The protocol without its blocks: their parts one after the other. `None` if a block is inside of
/// another one, does nothing, or has parts that share a sender with its receiver. With `ended`
/// those that end by an interrupt only are interrupted at once.
fn flatten(global: &Global, ended: bool) -> Option<Global> {
    let mut states: Vec<Vec<Edge>> =
        (0..index(global.len())).map(|state| global.edges(state).to_vec()).collect();
    let mut origins = global.origins.clone();
    let mut letters = global.letters.clone();
    for state in 0..global.len() {
        let [Edge { letter, target, .. }] = states[state][..] else { continue };
        let letter = global.letters[letter as usize];
        if letter.from != NONE {
            continue;
        }
        let Block { parts, interrupts, ends, span } = &global.blocks[letter.message as usize];
        if let (Some(&(by, message, _)), true) = (interrupts.first(), ended && !ends) {
            let participants = &global.participants[letter.message as usize];
            let others = participants.ones().filter(|&role| role != by as usize).map(index);
            let tell = others.map(|to| Letter { from: by, to, message, link: Link::Needs });
            let origin = index(origins.len());
            origins.push(*span);
            one_after_the_other(&mut states, &mut letters, (state, target), origin, tell);
            continue;
        }
        let mut pairs = BTreeSet::new();
        // Backwards: each part leads to the start of the next one.
        let mut next = target;
        for (position, part) in parts.iter().enumerate().rev() {
            let of_part: BTreeSet<(u32, u32)> =
                part.edges.iter().map(|edge| part.letter(edge)).map(|l| (l.from, l.to)).collect();
            if of_part.iter().any(|&pair| pair.0 == NONE || !pairs.insert(pair)) {
                return None;
            }
            if part.edges(0).is_empty() {
                continue;
            }
            // A part that never ends hides those behind it.
            let can_end = can_end(part);
            let ends = can_end.contains(&true);
            // A role may be done with its part where others never are.
            if ends && can_end.contains(&false) || !ends && position + 1 < parts.len() {
                return None;
            }
            let is_first = position == 0;
            let start = if is_first { index(state) } else { index(states.len()) };
            let first = states.len();
            let others = part.len() - usize::from(is_first);
            states.resize_with(first + others, Vec::new);
            let number = |inner: u32| match inner {
                _ if part.edges(inner).is_empty() => next,
                0 => start,
                inner => index(first + inner as usize - usize::from(is_first)),
            };
            let base = index(origins.len());
            origins.extend_from_slice(&part.origins);
            for inner in 0..index(part.len()) {
                let edges = part.edges(inner).iter().map(|edge| Edge {
                    letter: edge.letter,
                    target: number(edge.target),
                    origins: (edge.origins.0 + base, edge.origins.1 + base),
                });
                let edges: Vec<Edge> = edges.collect();
                if !edges.is_empty() {
                    states[number(inner) as usize] = edges;
                }
            }
            next = start;
        }
        if next != index(state) {
            return None;
        }
    }
    Some(global.with_states(states, origins, letters))
}

/// Puts these interactions between two states, the first of which has no edges any more.
fn one_after_the_other(
    states: &mut Vec<Vec<Edge>>,
    letters: &mut Vec<Letter>,
    (mut from, target): (usize, u32),
    origin: u32,
    interactions: impl Iterator<Item = Letter>,
) {
    let mut interactions = interactions.peekable();
    while let Some(interaction) = interactions.next() {
        let next = if interactions.peek().is_some() { index(states.len()) } else { target };
        letters.push(interaction);
        let letter = index(letters.len() - 1);
        states[from] = vec![Edge { letter, target: next, origins: (origin, origin + 1) }];
        if next != target {
            states.push(Vec::new());
            from = next as usize;
        }
    }
}
