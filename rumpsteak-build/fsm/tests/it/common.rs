//! What the tests share.

pub(crate) mod pairs;

use fastrand::Rng;
use rumpsteak_fsm::{Action, Direction, Fsm, StateId, Transition};

/// Machines from lines `role: 0 s!ready 1, 1 t?value(i32) 0`; a role without transitions is
/// `role:`.
pub(crate) fn machines(lines: &str) -> Vec<Fsm> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(machine).collect()
}

/// One such line. State 0 is the initial one.
pub(crate) fn machine(line: &str) -> Fsm {
    let (role, transitions) = line.split_once(':').unwrap();
    // Commas inside payloads are followed by no state number, so the text is read word by word.
    let mut text = format!("digraph \"{}\" {{ 0;", role.trim());
    let mut rest = transitions.trim();
    while !rest.is_empty() {
        let (from, after) = rest.split_once(' ').unwrap();
        // The target is the first number that ends a transition.
        let (action, to, next) = after
            .match_indices(", ")
            .map(|(at, _)| at)
            .chain([after.len()])
            .find_map(|end| {
                let (action, to) = after[..end].rsplit_once(' ')?;
                to.parse::<u32>().ok()?;
                Some((action, to, end))
            })
            .unwrap();
        text.push_str(&format!("{from} -> {to} [label=\"{action}\"];"));
        rest = after[next..].trim_start_matches(',').trim();
    }
    text.push('}');
    rumpsteak_fsm::dot::parse(&text).unwrap().remove(0)
}

pub(crate) fn changed(
    machine: &Fsm,
    role: &str,
    mut change: impl FnMut(Transition<'_>) -> (Action, StateId),
) -> Fsm {
    let mut builder = Fsm::builder(role);
    for _ in machine.states() {
        builder.add_state();
    }
    for transition in machine.transitions() {
        let (action, target) = change(transition);
        builder.add_transition(transition.source, action, target);
    }
    builder.build(machine.initial())
}

/// The nodes of a graph from which a way leads to a goal. A node is the list of its targets.
pub(crate) fn leading_to(targets: &[Vec<usize>], is_goal: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut incoming = vec![vec![]; targets.len()];
    for (from, own) in targets.iter().enumerate() {
        own.iter().for_each(|&to| incoming[to].push(from));
    }
    let mut leads: Vec<bool> = (0..targets.len()).map(is_goal).collect();
    let mut open: Vec<usize> = (0..leads.len()).filter(|&node| leads[node]).collect();
    while let Some(node) = open.pop() {
        for &from in &incoming[node] {
            if !std::mem::replace(&mut leads[from], true) {
                open.push(from);
            }
        }
    }
    leads
}

/// The same message, seen from the other end.
pub(crate) fn dual(action: &Action, peer: &str) -> Action {
    let direction = match action.direction {
        Direction::Send => Direction::Receive,
        Direction::Receive => Direction::Send,
    };
    Action { peer: peer.into(), direction, message: action.message.clone() }
}

/// A random directed machine of role `m` that talks to `peers` roles, at most three. A state ends
/// it with this probability in percent.
pub(crate) fn random_machine(rng: &mut Rng, peers: usize, ends: usize) -> Fsm {
    let states = 2 + rng.usize(..3);
    let mut builder = Fsm::builder("m");
    let ids: Vec<StateId> = (0..states).map(|_| builder.add_state()).collect();
    for (index, &from) in ids.iter().enumerate() {
        if ends > 0 && rng.usize(..100) < ends {
            continue;
        }
        let peer = ["p", "q", "r"][rng.usize(..peers)];
        let send = rng.bool();
        for &label in &["x", "y"][..1 + usize::from(rng.usize(..100) < 30)] {
            let action = if send { Action::send } else { Action::receive };
            let target = match rng.usize(..100) < 60 {
                true => (index + 1) % states,
                false => rng.usize(..states),
            };
            builder.add_transition(from, action(peer, label, &[]), ids[target]);
        }
    }
    builder.build(ids[0])
}
