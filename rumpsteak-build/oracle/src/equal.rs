//! Equality of machines up to unfolding.

use std::collections::BTreeSet;

use rumpsteak_fsm::Fsm;

/// Returns true if two machines have the same actions, now and in all later states.
///
/// Decides it for machines that [are deterministic](Fsm::check_directed). Each pair of states is
/// compared once.
pub fn equal(left: &Fsm, right: &Fsm) -> bool {
    let mut seen = BTreeSet::new();
    let mut pending = vec![(left.initial(), right.initial())];
    while let Some((p, q)) = pending.pop() {
        if !seen.insert((p, q)) {
            continue;
        }
        if left.transitions_from(p).count() != right.transitions_from(q).count() {
            return false;
        }
        for transition in left.transitions_from(p) {
            let same = right.transitions_from(q).find(|t| t.action == transition.action);
            match same {
                Some(same) => pending.push((transition.target, same.target)),
                None => return false,
            }
        }
    }
    true
}
