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
    let fits = |&(q, p): &(StateId, StateId)| fits(&offers(sub, q), &offers(sup, p));
    let pairs = sub.in_step(sup).map(|pair| fits(&pair).then_some(pair));
    Some(Steps { pairs: pairs.collect::<Option<_>>()? })
}

type Offers<'a> = BTreeSet<&'a Action>;

fn offers(fsm: &Fsm, state: StateId) -> Offers<'_> {
    fsm.transitions_from(state).map(|found| found.action).collect()
}

fn fits(own: &Offers<'_>, due: &Offers<'_>) -> bool {
    let all = |offers: &Offers<'_>, wanted| offers.iter().all(|it| it.direction == wanted);
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
