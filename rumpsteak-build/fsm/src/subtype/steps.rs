//! Subtyping of machines that do everything at its turn, for states with several peers or that both
//! send and receive. The [certificate](crate::certificate::steps) has the argument.

use std::collections::BTreeSet;

use crate::certificate::Steps;
use crate::machine::{Action, Direction, Fsm, StateId};

/// Follows both machines in step. `None` if `sub` does something else, or a machine is not
/// deterministic.
pub(super) fn search(sub: &Fsm, sup: &Fsm) -> Option<Steps> {
    sub.check_deterministic().ok()?;
    sup.check_deterministic().ok()?;
    let fits = |&(q, p): &(StateId, StateId)| fits(&sub.actions_from(q), &sup.actions_from(p));
    let pairs = sub.in_step(sup).map(|pair| fits(&pair).then_some(pair));
    Some(Steps { pairs: pairs.collect::<Option<_>>()? })
}

fn fits(own: &BTreeSet<&Action>, due: &BTreeSet<&Action>) -> bool {
    let all = |offers: &BTreeSet<&Action>, wanted| offers.iter().all(|it| it.direction == wanted);
    let peers: BTreeSet<_> = own.iter().map(|action| &action.peer).collect();
    if own.is_empty() || due.is_empty() {
        own == due
    } else if all(own, Direction::Send) && all(due, Direction::Send) {
        own.is_subset(due)
    } else if all(own, Direction::Receive) && peers.len() == 1 {
        due.is_subset(own)
    } else {
        own == due
    }
}
