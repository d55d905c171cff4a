//! Explains why a role cannot follow the protocol, by runs that look the same to it.

use rumpsteak_fsm::{Label, Message};

use super::merge::{EdgeAt, Subsets, path};
use super::validity::{Problem, can_end};
use crate::diagnostics::projection_errors::{Branches, Early, problem};
use crate::diagnostics::{Code, Diagnostic, Span, diagnostic};
use crate::global::automaton::{Edge, Global, Letter};
use crate::index::{IndexSet, NONE, index};

/// The greatest number of errors reported for one role.
const MOST_ERRORS: usize = 10;

/// The greatest length of the search for a run that explains a problem.
const LONGEST_SEARCH: usize = 1_000_000;

/// The problems as errors, one for each choice. `is_right` returns true if all roles can follow a
/// protocol.
pub(super) fn explain(
    subsets: &Subsets<'_>,
    problems: &[Problem],
    is_right: impl Fn(&Global) -> bool,
) -> Vec<Diagnostic> {
    let role = subsets.global.roles[subsets.role as usize].as_str();
    let is_overtaken = |found: &Problem| found.kind == Code::Overtaken;
    let by_label = problems.iter().any(is_overtaken) && is_right(&with_other_labels(subsets));
    let step = |edge: EdgeAt| (edge.1 != NONE).then(|| subsets.global.step(subsets.edge(edge)));
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut explained = Vec::new();
    for found in problems {
        let (kind, one, other) = (found.kind, found.one, found.other);
        if diagnostics.len() >= MOST_ERRORS {
            break;
        }
        let (first, mut branches) = branches(subsets, found).unzip();
        let choice = first.map(|(state, _)| state);
        if choice.is_some() && explained.contains(&choice) {
            continue;
        }
        explained.push(choice);
        if let (Code::SendOrReceive, Some(first), Some(branches)) = (kind, first, &mut branches) {
            let letter = subsets.edge(other).letter;
            branches.needs_same = is_right(&with_message(subsets.global, first, letter));
        }
        let (blamed, beside) = match kind {
            // The second payload has to change.
            Code::PayloadUnknown => (other, one),
            _ => (one, other),
        };
        let ends = kind == Code::NeverTold && can_end(subsets.global)[other.0 as usize];
        let steps = (subsets.global.step(subsets.edge(blamed)), step(beside));
        let early = found.early.last().map(|&early| {
            let early = subsets.edge(early);
            let sender = subsets.letter(early.letter).from as usize;
            let sender = subsets.global.roles[sender].to_string();
            Early { sender, span: subsets.global.step(early).span, by_label }
        });
        diagnostics.push(problem(kind, role, steps, ends, early, branches));
    }
    diagnostic::sort(&mut diagnostics);
    diagnostics
}

/// Finds two runs that look the same to the role, one to each of the problem's two edges (or
/// states, if the second number is [`NONE`]). Returns the edge of the first run where they part,
/// and how. If a message may overtake, the runs include it.
fn branches(subsets: &Subsets<'_>, problem: &Problem) -> Option<(EdgeAt, Branches)> {
    let global = subsets.global;
    let word = subsets.word(problem.state);
    let (one, other, early) = (problem.one, problem.other, &problem.early);
    let mut runs = [run(subsets, &word, one.0)?, run(subsets, &word, other.0)?];
    // The next step helps to find where the runs part; it is not part of what looks the same.
    let next = |run: &[EdgeAt], edge: EdgeAt| {
        run.iter().copied().chain((edge.1 != NONE).then_some(edge)).collect::<Vec<_>>()
    };
    let (one, other) = (next(&runs[0], one), next(&runs[1], other));
    let ends = [&one, &other].map(|run| run.last().map(|&end| subsets.edge(end).letter));
    let part = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let &first = one.get(part)?;
    if !early.is_empty() {
        runs = [one.clone(), [&other[..], early].concat()];
    }
    let edge = subsets.edge(first);
    // At the beginning of a block no role chooses.
    let chooser = global.roles.get(global.letter(edge).from as usize)?;
    let branches = Branches {
        chooser: chooser.to_string(),
        one: global.step(edge),
        other: other.get(part).map(|&edge| global.step(subsets.edge(edge))),
        equal: part.checked_sub(1).map_or(Vec::new(), |before| equal(subsets, one[before])),
        needs_same: false,
        is_told: problem.kind == Code::NeverTold && ends[0] == ends[1],
        again: early.iter().any(|early| other.iter().any(|before| before.0 == early.0)),
        runs: runs.map(|run| run.iter().map(|&at| global.text(subsets.edge(at))).collect()),
    };
    Some((first, branches))
}

/// The same protocol, except that another message follows an edge.
fn with_message(global: &Global, (state, position): EdgeAt, letter: u32) -> Global {
    let mut global = global.clone();
    let added = index(global.len());
    let before = &mut global.states[state as usize][position as usize];
    let after = Edge { letter, ..before.clone() };
    before.target = added;
    global.states.push(vec![after]);
    global
}

/// The same protocol, except that each place where a message to the role is sent has its own label.
fn with_other_labels(subsets: &Subsets<'_>) -> Global {
    let before = subsets.global;
    let mut after = before.clone();
    let mut messages = before.messages.to_vec();
    let mut places: IndexSet<(u32, Span)> = IndexSet::default();
    for edge in after.states.iter_mut().flatten() {
        let letter = before.letter(edge);
        if letter.to != subsets.role {
            continue;
        }
        let (number, is_new) = places.insert_full((edge.letter, edge.origins[0]));
        edge.letter = index(before.letters.len() + number);
        if is_new {
            after.letters.push(Letter { message: index(messages.len()), ..letter });
            let label = Label::from(number.to_string());
            messages.push(Message { label, ..before.message(letter).clone() });
        }
    }
    after.messages = messages.into();
    after
}

/// The places of an interaction that the role sees, if several branches begin with it.
fn equal(subsets: &Subsets<'_>, edge: EdgeAt) -> Vec<Span> {
    let edge = subsets.edge(edge);
    let mut origins = edge.origins.clone();
    origins.dedup();
    if origins.len() > 1 && subsets.sees(edge.letter) { origins } else { Vec::new() }
}

/// Finds the edges of the shortest run to `goal` in which the role sees exactly `word`. Searches
/// breadth first over pairs of a global state and the length of the word so far: O(word · edges).
/// Returns `None` if the search is too long.
fn run(subsets: &Subsets<'_>, word: &[u32], goal: u32) -> Option<Vec<EdgeAt>> {
    // The state and the length of the word so far, and the step that led there.
    let (mut found, mut steps) = (IndexSet::from_iter([(0, 0)]), vec![None]);
    let mut at = 0;
    while at < found.len() && found.len() < LONGEST_SEARCH {
        let &(state, seen) = found.get_index(at)?;
        if state == goal && seen as usize == word.len() {
            return Some(path(steps[at], |at| steps[at]));
        }
        for (position, edge) in (0..).zip(subsets.global.edges(state)) {
            let seen = match subsets.sees(edge.letter) {
                false => seen,
                true if word.get(seen as usize) == Some(&edge.letter) => seen + 1,
                true => continue,
            };
            if found.insert((edge.target, seen)) {
                steps.push(Some((at, (state, position))));
            }
        }
        at += 1;
    }
    None
}
