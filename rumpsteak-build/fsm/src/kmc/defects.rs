//! The states because of which a system is not made of deterministic, directed session automata.

use hashbrown::HashMap;

use crate::machine::{Defect, Fsm, Role, StateId};

/// The first reachable state that mixes sends and receives.
pub(crate) fn mixed<'a>(machines: impl Iterator<Item = &'a Fsm>) -> Option<(Role, Defect)> {
    defect(machines, Fsm::mixed)
}

/// The first reachable state that chooses between peers.
pub(crate) fn undirected<'a>(machines: impl Iterator<Item = &'a Fsm>) -> Option<(Role, Defect)> {
    defect(machines, Fsm::undirected)
}

/// The first reachable state with two transitions with one action and different targets.
pub(crate) fn nondeterministic<'a>(
    machines: impl Iterator<Item = &'a Fsm>,
) -> Option<(Role, Defect)> {
    defect(machines, |machine, state| {
        let mut seen = HashMap::new();
        machine.transitions_from(state).find_map(|transition| {
            let own = (transition.id, transition.target);
            let first = *seen.entry(transition.action).or_insert(own);
            (first.1 != transition.target).then(|| Defect::Nondeterministic {
                state,
                action: transition.action.clone(),
                transitions: [first.0, transition.id],
            })
        })
    })
}

fn defect<'a>(
    mut machines: impl Iterator<Item = &'a Fsm>,
    of: impl Fn(&Fsm, StateId) -> Option<Defect>,
) -> Option<(Role, Defect)> {
    machines.find_map(|machine| {
        let mut states: Vec<StateId> = machine.reachable().collect();
        states.sort_unstable();
        let defect = states.into_iter().find_map(|state| of(machine, state))?;
        Some((machine.role().clone(), defect))
    })
}
