//! The peers that a machine expects.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_fsm::{Action, Fsm, Role, StateId};

use crate::common::dual;

/// The views of a machine by each of its peers. `None` if a peer could not tell what to do.
pub(crate) fn shown_to_all(machine: &Fsm) -> Option<Vec<Fsm>> {
    let peers: BTreeSet<&Role> = machine.transitions().map(|t| &t.action.peer).collect();
    peers.into_iter().map(|peer| shown_to(peer, machine)).collect()
}

/// The view of `machine` by `peer`: the duals of their common actions, the others invisible.
fn shown_to(peer: &Role, machine: &Fsm) -> Option<Fsm> {
    let close = |starts: BTreeSet<StateId>| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<StateId> = starts.into_iter().collect();
        while let Some(state) = open.pop() {
            if seen.insert(state) {
                let hidden = machine.transitions_from(state).filter(|t| t.action.peer != *peer);
                open.extend(hidden.map(|t| t.target));
            }
        }
        seen
    };
    let mut builder = Fsm::builder(peer);
    let start = close(BTreeSet::from([machine.initial()]));
    let initial = builder.add_state();
    let mut ids = BTreeMap::from([(start.clone(), initial)]);
    let mut open = vec![start];
    while let Some(places) = open.pop() {
        let mut targets: BTreeMap<Action, BTreeSet<StateId>> = BTreeMap::new();
        for transition in places.iter().flat_map(|&place| machine.transitions_from(place)) {
            if transition.action.peer == *peer {
                let action = dual(transition.action, machine.role().as_str());
                targets.entry(action).or_default().insert(transition.target);
            }
        }
        let from = ids[&places];
        for (action, target) in targets {
            let target = close(target);
            let to = *ids.entry(target.clone()).or_insert_with(|| {
                open.push(target);
                builder.add_state()
            });
            builder.add_transition(from, action, to);
        }
    }
    Some(builder.build(initial)).filter(|shown| shown.check_directed().is_ok())
}
