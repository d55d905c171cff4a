//! Roles that collect messages of several peers, in any order.
//!
//! ```text
//!   rec X { choice at A { l() from A to B; x() from B to C; continue X; }
//!                    or { r() from A to B; y() from A to C; continue X; } }      C:  B?x ↻ 0 ↺ A?y
//! ```
//!
//! `y` may overtake the `x` of an earlier round: receive validity (S0402) fails. It does no harm,
//! since `C` does the same afterwards, whichever it takes first.
//!
//! # The condition
//! Let K be the least set of states of the machine that has each state in which a message may be
//! overtaken, and, with a state that receives `m` and `n` from different peers, the states behind
//! both. Each state in K that receives sends nothing, and each such `m` and `n` *commute* there:
//! both orders are possible, and lead to the same state.
//!
//! # Why it is sound
//! Take a run of the protocol that agrees with everything that has happened so far, except that
//! the role `p` may have taken some messages before their turn. Claim: its machine is where it
//! would be if the run had these messages earlier. Suppose `p` takes `x` at the state `s`, and the
//! run has `y1 … yn x` for `p`. Then `s` is in K, because `x` overtakes `y1` there, or because `p`
//! has come there by a message that did. Since `x` and `y1` commute, `x` is possible after `y1` as
//! well, in a state of K, and so on until its turn. So `x y1 … yn` leads to the same state as
//! `y1 … yn x`, and `y1` is possible after `x`. None of the `y`s is a send: beside `x` in one
//! state, it would be a mixed choice (S0403).
//!
//! So `p` sends nothing while a message is still due that it should have taken before. Its other
//! peers notice nothing: what they receive, and what they wait for, is as if each message had been
//! taken at its turn. Hence the theorem of [`projection`](super::projection) holds for the run in
//! which it was.

use std::collections::BTreeSet;

use rumpsteak_fsm::Action;

use super::local::{Edge, Local};
use super::merge::Subsets;
use super::validity::Problem;

/// True if the messages that are overtaken in these states commute, with all others that may be
/// under way at the same time. `machine` is the smallest one.
pub(super) fn collects(subsets: &Subsets<'_>, problems: &[Problem], machine: &Local) -> bool {
    let next = |state: u32, action: &Action| {
        let found = machine.edges(state).iter().find(|edge| edge.action == *action);
        found.map(|edge| edge.target)
    };
    let state = |problem: &Problem| {
        let mut word = subsets.word(problem.state).into_iter();
        word.try_fold(0, |state, letter| next(state, &subsets.action(letter)))
    };
    let Some(mut work) = problems.iter().map(state).collect::<Option<Vec<u32>>>() else {
        return false;
    };
    let mut seen = BTreeSet::new();
    while let Some(state) = work.pop() {
        let edges = machine.edges(state);
        let receives: Vec<&Edge> = edges.iter().filter(|edge| !edge.action.is_send()).collect();
        if !seen.insert(state) || receives.is_empty() {
            continue;
        }
        if receives.len() < edges.len() {
            return false;
        }
        for (at, one) in receives.iter().enumerate() {
            let others = receives[..at].iter();
            for other in others.filter(|other| other.action.peer != one.action.peer) {
                let meet = next(one.target, &other.action);
                if meet.is_none() || meet != next(other.target, &one.action) {
                    return false;
                }
                work.extend([one.target, other.target]);
            }
        }
    }
    true
}
