//! Why a role cannot follow the protocol: runs that look the same to it, and where they part.

use hashbrown::HashSet;

use super::subsets::{EdgeAt, Subsets};
use super::validity::{Problem, can_end};
use crate::diagnostics::diagnostic::{self, Diagnostic};
use crate::diagnostics::projection_errors::{Branches, ProblemKind, problem};
use crate::diagnostics::span::Span;
use crate::index::NONE;

/// Reports no more than this many errors for one role.
const MOST_ERRORS: usize = 10;

/// Looks no further than this for a run that explains a problem.
const LONGEST_SEARCH: usize = 1_000_000;

/// The problems as errors. What follows from a choice that is explained already is an echo.
pub(super) fn explain(subsets: &Subsets<'_>, problems: &[Problem]) -> Vec<Diagnostic> {
    let role = subsets.global.roles[subsets.role as usize].as_str();
    let step = |edge: EdgeAt| (edge.1 != NONE).then(|| subsets.global.step(subsets.edge(edge)));
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut explained = Vec::new();
    for found in problems {
        let (kind, one, other) = (found.kind, found.one, found.other);
        if diagnostics.len() >= MOST_ERRORS {
            break;
        }
        let (choice, branches) = branches(subsets, found.state, one, other).unzip();
        if choice.is_some() && explained.contains(&choice) {
            continue;
        }
        explained.push(choice);
        let (blamed, beside) = match kind {
            // The second payload is the one to change.
            ProblemKind::PayloadUnknown => (other, one),
            _ => (one, other),
        };
        let ends =
            matches!(kind, ProblemKind::NeverTold) && can_end(subsets.global)[other.0 as usize];
        let steps = (subsets.global.step(subsets.edge(blamed)), step(beside));
        diagnostics.push(problem(kind, role, steps, ends, branches));
    }
    diagnostic::sort(&mut diagnostics);
    diagnostics
}

/// Two runs that look the same to the role, one to each of two edges (or states, where the second
/// number is [`NONE`]): the global state where they part, and the two ways there.
fn branches(
    subsets: &Subsets<'_>,
    state: u32,
    one: EdgeAt,
    other: EdgeAt,
) -> Option<(u32, Branches)> {
    let global = subsets.global;
    let word = subsets.word(state);
    let runs = [run(subsets, &word, one.0)?, run(subsets, &word, other.0)?];
    // Where they part is found with the next step, what looks the same is shown without.
    let next = |run: &[EdgeAt], edge: EdgeAt| {
        let more = (edge.1 != NONE).then_some(edge);
        run.iter().copied().chain(more).collect::<Vec<_>>()
    };
    let (one, other) = (next(&runs[0], one), next(&runs[1], other));
    let pairs = one.iter().zip(&other);
    let part = pairs.take_while(|(one, other)| one == other).count();
    let &first = one.get(part)?;
    let edge = subsets.edge(first);
    // Where a block begins nobody chooses.
    let chooser = global.roles.get(global.letter(edge).from as usize)?;
    let branches = Branches {
        chooser: chooser.to_string(),
        one: global.step(edge),
        other: other.get(part).map(|&edge| global.step(subsets.edge(edge))),
        equal: part.checked_sub(1).map_or(Vec::new(), |before| equal(subsets, one[before])),
        runs: runs.map(|run| run.iter().map(|&at| global.text(subsets.edge(at))).collect()),
    };
    Some((first.0, branches))
}

/// Where an interaction stands that the role sees, if several branches begin with it.
fn equal(subsets: &Subsets<'_>, edge: EdgeAt) -> Vec<Span> {
    let edge = subsets.edge(edge);
    let mut origins = subsets.global.origins(edge).to_vec();
    origins.dedup();
    if origins.len() > 1 && subsets.sees(edge.letter) { origins } else { Vec::new() }
}

/// The shortest run of the protocol to `goal` of which the role sees exactly `word`, as edges.
/// Breadth first over pairs of a global state and how much of the word is seen: O(word · edges),
/// and `None` if that is too long.
fn run(subsets: &Subsets<'_>, word: &[u32], goal: u32) -> Option<Vec<EdgeAt>> {
    /// The entry of the queue before, and the edge from there.
    type Back = (usize, EdgeAt);
    let mut found: HashSet<(u32, usize)> = HashSet::from([(0, 0)]);
    // The state, how much is seen, and how it was reached.
    let mut queue: Vec<(u32, usize, Option<Back>)> = vec![(0, 0, None)];
    let mut at = 0;
    while at < queue.len() && queue.len() < LONGEST_SEARCH {
        let (state, seen, back) = queue[at];
        if state == goal && seen == word.len() {
            let steps = std::iter::successors(back, |(before, _)| queue[*before].2);
            let mut run: Vec<EdgeAt> = steps.map(|(_, edge)| edge).collect();
            run.reverse();
            return Some(run);
        }
        for (position, edge) in (0..).zip(subsets.global.edges(state)) {
            let seen = match subsets.sees(edge.letter) {
                false => seen,
                true if word.get(seen) == Some(&edge.letter) => seen + 1,
                true => continue,
            };
            if found.insert((edge.target, seen)) {
                queue.push((edge.target, seen, Some((at, (state, position)))));
            }
        }
        at += 1;
    }
    None
}
