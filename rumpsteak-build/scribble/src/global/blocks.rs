//! The blocks of a protocol, once all automata are built: their participants, the roles that begin
//! to send in them, and labels that a receiver could confuse.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use hashbrown::{HashMap, HashSet};
use rumpsteak_fsm::{Label, Message};

use super::automaton::{Edge, Global, Letter};
use crate::diagnostics::global_errors::shared_label;
use crate::diagnostics::{Diagnostic, Found, Span};
use crate::index::{IndexSet, NONE, index, reached};
use crate::names::program::Interrupt;

/// Fills in what the automaton and its blocks have in common: letters, participants and ends.
///
/// # Errors
/// Labels that a receiver could confuse.
pub(super) fn finish(
    global: &mut Global,
    letters: Vec<Letter>,
    messages: &IndexSet<Message>,
) -> Found<()> {
    let mut participants =
        vec![FixedBitSet::with_capacity(global.roles.len()); global.blocks.len()];
    // The letters of the interactions in each block, at any depth.
    let mut inside: Vec<HashSet<u32>> = vec![HashSet::new(); global.blocks.len()];
    let mut diagnostics = Vec::new();
    // Inner blocks first: a block comes after those around it.
    for number in (0..global.blocks.len()).rev() {
        let block = &global.blocks[number];
        let mut seen: HashMap<(u32, u32, &Label), (usize, Span)> = HashMap::new();
        for (part, automaton) in block.parts.iter().enumerate() {
            let mut of_part: Vec<(u32, Span)> = Vec::new();
            for edge in automaton.all_edges() {
                let (letter, span) = (letters[edge.letter as usize], edge.origins[0]);
                match letter.from {
                    NONE => {
                        let nested = &inside[letter.message as usize];
                        of_part.extend(nested.iter().map(|&letter| (letter, span)));
                        let interrupts = &global.blocks[letter.message as usize].interrupts;
                        participants[number].extend(interrupters(interrupts));
                    }
                    _ => of_part.push((edge.letter, span)),
                }
            }
            // Interactions of nested blocks come in no order.
            of_part.sort_unstable();
            for (letter, span) in of_part {
                inside[number].insert(letter);
                let Letter { from, to, message, .. } = letters[letter as usize];
                participants[number].extend([from as usize, to as usize]);
                let label = &messages[message as usize].label;
                let (other, first) = *seen.entry((from, to, label)).or_insert((part, span));
                if other != part {
                    let [from, to] = [from, to].map(|role| global.roles[role as usize].as_str());
                    let to = format!("`{to}`");
                    diagnostics.push(shared_label(label.as_str(), from, &to, span, first));
                }
            }
        }
        diagnostics.extend(interrupts(global, number, &seen, messages));
        let named = block.interrupts.iter().flat_map(|of| of.via.iter().chain([&of.by]));
        participants[number].extend(named.map(|&role| role as usize));
        let ends = block.parts.iter().all(|part| part.ends(&letters, &global.blocks));
        global.blocks[number].ends = ends;
    }
    diagnostics.dedup_by_key(|found| found.primary);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    (global.letters, global.participants) = (letters, participants.into());
    let mut starters = vec![FixedBitSet::with_capacity(global.roles.len()); global.blocks.len()];
    for number in (0..global.blocks.len()).rev() {
        let block = &global.blocks[number];
        starters[number].extend(interrupters(&block.interrupts));
        for role in global.participants[number].ones() {
            let starts = |part: &Global| starts(global, part, index(role), &starters);
            if block.parts.iter().any(starts) {
                starters[number].insert(role);
            }
        }
    }
    global.starters = starters.into();
    for automaton in global.blocks.iter_mut().flat_map(|block| &mut block.parts) {
        automaton.letters.clone_from(&global.letters);
        automaton.participants = Arc::clone(&global.participants);
        automaton.starters = Arc::clone(&global.starters);
    }
    Ok(())
}

fn interrupters(interrupts: &[Interrupt<u32>]) -> impl Iterator<Item = usize> {
    interrupts.iter().map(|interrupt| interrupt.by as usize)
}

/// True if a role may send in a part before it receives anything in it. `starters` has such roles
/// of the blocks inside.
fn starts(global: &Global, part: &Global, role: u32, starters: &[FixedBitSet]) -> bool {
    let sees = |edge: &&Edge| global.is_seen_by(edge.letter, role);
    let next = |state| part.edges(state).iter().filter(|edge| !sees(edge)).map(|edge| edge.target);
    let reached = reached(part.len(), vec![0], &|state, work| work.extend(next(state)));
    let states = reached.into_iter().zip(&part.states).filter(|(is_reached, _)| *is_reached);
    states.flat_map(|(_, edges)| edges).filter(sees).any(|edge| {
        let Letter { from, message, .. } = global.letters[edge.letter as usize];
        from == role || from == NONE && starters[message as usize].contains(role as usize)
    })
}

/// The errors about the interrupts of a block; `used` has the labels of its interactions.
fn interrupts(
    global: &Global,
    number: usize,
    used: &HashMap<(u32, u32, &Label), (usize, Span)>,
    messages: &IndexSet<Message>,
) -> Vec<Diagnostic> {
    let block = &global.blocks[number];
    let name = |role: u32| global.roles[role as usize].as_str();
    let mut found = Vec::new();
    let mut labels = HashSet::new();
    let mut first = HashMap::new();
    let own = block.interrupts.iter().map(|of| (of.by, of.message, of.span, false));
    let answers = block.interrupts.iter().filter_map(|of| Some((of.by, of.answer?, of.span, true)));
    for (by, message, here, is_answer) in own.chain(answers) {
        let label = &messages[message as usize].label;
        let same = used.iter().filter(|((_, _, other), _)| *other == label);
        if let Some((&(from, to, _), &(_, span))) = same.min_by_key(|(_, (_, span))| *span) {
            let to = format!("`{}`", name(to));
            found.push(shared_label(label.as_str(), name(from), &to, here, span));
            continue;
        }
        let known = *first.entry(label).or_insert((message, is_answer, here));
        let there = known.2;
        if !labels.insert((by, label)) && !is_answer || known != (message, is_answer, there) {
            found.push(shared_label(label.as_str(), name(by), "all others", here, there));
        }
    }
    found.dedup_by(|later, known| later.message == known.message);
    found
}
