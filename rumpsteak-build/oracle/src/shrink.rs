//! Shrinking a failure until it is readable.

use std::collections::BTreeSet;

use rumpsteak_fsm::{Direction, Fsm, Message, Role};

use crate::Draft;

/// The machines of a protocol and the rewritten ones, role by role in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The projected machines.
    pub projected: Vec<Fsm>,
    /// The rewritten machines.
    pub written: Vec<Fsm>,
}

/// Shrinks a pair of systems step by step, as long as `fails` holds.
///
/// `fails` gets directed machines that need not be projections, or form a system. It must return
/// false for everything but the failure. It is called a few times for each remaining transition,
/// until no step is possible.
pub fn shrink(start: Rewritten, mut fails: impl FnMut(&Rewritten) -> bool) -> Rewritten {
    let mut best = start;
    loop {
        let smaller = candidates(&best).into_iter().find(|candidate| {
            let machines = candidate.projected.iter().chain(&candidate.written);
            machines.clone().all(|m| m.check_directed().is_ok()) && fails(candidate)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Everything that is one step smaller, the biggest steps first.
fn candidates(from: &Rewritten) -> Vec<Rewritten> {
    let mut candidates = vec![];
    let roles = 0..from.projected.len();

    // Removes a role without messages.
    for role in roles.clone() {
        if from.projected[role].transition_count() + from.written[role].transition_count() == 0 {
            let mut candidate = from.clone();
            candidate.projected.remove(role);
            candidate.written.remove(role);
            candidates.push(candidate);
        }
    }
    // Replaces a role by its projection.
    for role in roles.clone() {
        if from.written[role] != from.projected[role] {
            let mut candidate = from.clone();
            candidate.written[role] = candidate.projected[role].clone();
            candidates.push(candidate);
        }
    }
    // Removes a message everywhere: its branches, or only itself.
    for exchange in exchanges(from) {
        for edit in [remove_all, skip_all] {
            let mut candidate = from.clone();
            for machine in candidate.projected.iter_mut().chain(&mut candidate.written) {
                *machine = edit(machine, &exchange);
            }
            candidates.push(candidate);
        }
    }
    // Removes a transition in one machine, or in both machines of a role if they are the same.
    for role in roles {
        let same = from.written[role] == from.projected[role];
        for smaller in smaller_machines(&from.projected[role]) {
            let mut candidate = from.clone();
            if same {
                candidate.written[role] = smaller.clone();
            }
            candidate.projected[role] = smaller;
            candidates.push(candidate);
        }
        for smaller in smaller_machines(&from.written[role]) {
            let mut candidate = from.clone();
            candidate.written[role] = smaller;
            candidates.push(candidate);
        }
    }
    candidates.retain(|candidate| size(candidate) < size(from));
    candidates
}

/// The measure that every step reduces: transitions, states, roles, and rewritten roles.
fn size(of: &Rewritten) -> usize {
    let machines = of.projected.iter().chain(&of.written);
    let parts: usize = machines.map(|m| m.transition_count() + m.len()).sum();
    let rewritten = of.projected.iter().zip(&of.written).filter(|(p, w)| p != w);
    parts + rewritten.count()
}

type Exchange = (Role, Role, Message);

fn exchanges(from: &Rewritten) -> BTreeSet<Exchange> {
    let of = |machine: &Fsm| {
        machine.transitions().map(|found| exchange(machine, found.action)).collect::<Vec<_>>()
    };
    from.projected.iter().chain(&from.written).flat_map(of).collect()
}

fn exchange(machine: &Fsm, action: &rumpsteak_fsm::Action) -> Exchange {
    let (own, peer) = (machine.role().clone(), action.peer.clone());
    match action.direction {
        Direction::Send => (own, peer, action.message.clone()),
        Direction::Receive => (peer, own, action.message.clone()),
    }
}

fn remove_all(machine: &Fsm, of: &Exchange) -> Fsm {
    let mut draft = Draft::from(machine);
    for transitions in &mut draft.states {
        transitions.retain(|(action, _)| exchange(machine, action) != *of);
    }
    draft.build()
}

fn skip_all(machine: &Fsm, of: &Exchange) -> Fsm {
    let mut draft = Draft::from(machine);
    for state in 0..draft.states.len() {
        // A loop of only this message has no other state.
        for _ in 0..draft.states.len() {
            match draft.states[state].as_slice() {
                [(action, target)] if *target != state && exchange(machine, action) == *of => {
                    draft.states[state] = draft.states[*target].clone();
                }
                _ => break,
            }
        }
    }
    draft.build()
}

fn smaller_machines(machine: &Fsm) -> Vec<Fsm> {
    let draft = Draft::from(machine);
    let mut smaller = vec![];
    for state in 0..draft.states.len() {
        for position in 0..draft.states[state].len() {
            let mut removed = draft.clone();
            let (_, target) = removed.states[state].remove(position);
            smaller.push(removed.build());
            if draft.states[state].len() == 1 && target != state {
                let mut skipped = draft.clone();
                skipped.states[state] = skipped.states[target].clone();
                smaller.push(skipped.build());
            }
        }
    }
    smaller
}
