//! Machines that do everything at its turn: what is left of subtyping where a state has several
//! peers, or sends and receives. The [certificate](crate::certificate::steps) has the argument.

use std::collections::{BTreeMap, BTreeSet};

use crate::certificate::Steps;
use crate::machine::{Action, Direction, Fsm, StateId};

/// Follows both machines as long as each does what the other does. `None` if `sub` does something
/// else, or a machine is not deterministic.
pub(super) fn search(sub: &Fsm, sup: &Fsm) -> Option<Steps> {
    sub.check_deterministic().ok()?;
    sup.check_deterministic().ok()?;
    let start = (sub.initial(), sup.initial());
    let mut met = BTreeSet::from([start]);
    let mut pairs = vec![start];
    let mut at = 0;
    while at < pairs.len() {
        for next in follow(sub, sup, pairs[at])? {
            if met.insert(next) {
                pairs.push(next);
            }
        }
        at += 1;
    }
    Some(Steps { pairs })
}

/// The pairs behind a pair.
fn follow(sub: &Fsm, sup: &Fsm, (q, p): (StateId, StateId)) -> Option<Vec<(StateId, StateId)>> {
    let due: BTreeMap<&Action, StateId> =
        sup.transitions_from(p).map(|found| (found.action, found.target)).collect();
    let own = sub.transitions_from(q).count();
    let mut both = vec![];
    for found in sub.transitions_from(q) {
        both.extend(due.get(found.action).map(|&target| (found.target, target)));
    }
    let does = |fsm: &Fsm, state, direction| {
        fsm.transitions_from(state).all(|found| found.action.direction == direction)
    };
    let send = does(sub, q, Direction::Send) && does(sup, p, Direction::Send);
    let peers: BTreeSet<_> = sub.transitions_from(q).map(|found| &found.action.peer).collect();
    let fits = match (own, due.len()) {
        (0, 0) => true,
        (0, _) | (_, 0) => false,
        _ if send => both.len() == own,
        _ if does(sub, q, Direction::Receive) && peers.len() == 1 => both.len() == due.len(),
        (own, due) => both.len() == own && both.len() == due,
    };
    fits.then_some(both)
}
