//! The states because of which a system is not made of deterministic, directed session automata.

use hashbrown::HashMap;

use crate::machine::{Defect, Fsm, Role, StateId};

/// The defect of a state with two transitions with one action and different targets.
pub(crate) fn nondeterministic(machine: &Fsm, state: StateId) -> Option<Defect> {
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
}

/// The first reachable state with a defect of this kind.
pub(crate) fn first<'a>(
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
