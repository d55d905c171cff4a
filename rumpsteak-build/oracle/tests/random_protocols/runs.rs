//! The check of a run of the verifier: replayed in the explorer's semantics, it must lead to the
//! failure that it names, and be as short as possible.

use rumpsteak_fsm::Fsm;
use rumpsteak_fsm::run::{Failure, Run};
use rumpsteak_oracle::{Configuration, Fault, Finding, Limits, Step, System};

/// The limits for finding shorter runs, and continuations.
const CONFIGURATIONS: usize = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// The failure is there, and no failure that a configuration shows comes after fewer steps.
    Shortest,
    /// The failure is there; a shorter run leads to one of the same kind.
    Longer,
    /// The failure is there; a shorter run leads to one of another kind.
    Other,
    /// The limits are too small to tell.
    Unknown,
}

/// Replays `run` on these machines.
///
/// # Errors
/// If it does not replay, or nothing is wrong at its end, or something else than it names.
pub(crate) fn confirm(system: &System, run: &Run) -> Result<Confirmed, String> {
    let steps = steps(system.machines(), run)?;
    let wrong = |what: &str| {
        let described = system.describe(&steps);
        Err(format!("{what}\n{:?}\n{described}", run.failure))
    };
    let Ok(end) = system.replay(&steps) else { return wrong("the run does not replay:") };

    let beyond = Limits { queue: 8, configurations: CONFIGURATIONS, steps: usize::MAX };
    let faults = candidates(system, &end, &run.failure);
    let held: Vec<_> = faults.iter().map(|&f| system.holds(&end, f, &beyond)).collect();
    if !held.contains(&Some(true)) {
        return match held.contains(&None) {
            true => Ok(Confirmed::Unknown),
            false => wrong("the failure is not there after the run:"),
        };
    }

    // A run of n steps needs no longer queue.
    let shorter = system.explore(&Limits {
        queue: steps.len(),
        configurations: CONFIGURATIONS,
        steps: steps.len().saturating_sub(1),
    });
    let is_shorter = |finding: &&Finding| finding.run.len() < steps.len();
    let same = faults
        .iter()
        .filter(|fault| fault.kind().is_immediate())
        .find_map(|fault| shorter.finding(fault.kind()).filter(is_shorter));
    Ok(match (same, shorter.immediate().filter(is_shorter)) {
        (Some(_), _) => Confirmed::Longer,
        (None, Some(_)) => Confirmed::Other,
        (None, None) if shorter.configurations >= CONFIGURATIONS => Confirmed::Unknown,
        (None, None) => Confirmed::Shortest,
    })
}

/// The possible faults of the failure in the explorer's terms.
fn candidates(system: &System, end: &Configuration, failure: &Failure) -> Vec<Fault> {
    let position = |role| system.machines().iter().position(|m| m.role() == role);
    match failure {
        Failure::Deadlock => vec![Fault::Deadlock],
        Failure::UnspecifiedReception { from, to } => match (position(from), position(to)) {
            (Some(sender), Some(receiver)) if end.queues.contains_key(&(sender, receiver)) => {
                vec![Fault::UnspecifiedReception { receiver }]
            }
            _ => vec![],
        },
        Failure::Orphan { from, to } => match (position(from), position(to)) {
            (Some(sender), Some(receiver)) => {
                vec![Fault::Orphan { sender, receiver }, Fault::Abandoned { sender, receiver }]
            }
            _ => vec![],
        },
        Failure::Starvation(role) => {
            let fault = |machine| Fault::Starvation { machine };
            position(role).map(fault).into_iter().collect()
        }
        // No configuration is wrong by itself.
        Failure::Neglect(_) | Failure::Never { .. } => vec![],
    }
}

fn steps(machines: &[Fsm], run: &Run) -> Result<Vec<Step>, String> {
    // A machine that has ended tells so, or drops what is late: not a step here.
    let is_late = machines.iter().any(|machine| !machine.late().is_empty());
    let is_step = |step: &&rumpsteak_fsm::run::Step| {
        let machine = machines.iter().find(|machine| *machine.role() == step.role);
        !is_late || machine.is_none_or(|of| step.transition.index() < of.transition_count())
    };
    let steps = run.steps.iter().filter(is_step);
    steps
        .map(|step| {
            let machine = machines.iter().position(|m| *m.role() == step.role);
            let machine = machine.ok_or_else(|| format!("no machine plays {}", step.role))?;
            let transition = step.transition;
            let known = transition.index() < machines[machine].transition_count();
            if !known || *machines[machine].transition(transition).action != step.action {
                return Err(format!("{} does not do {}", step.role, step.action));
            }
            Ok(Step { machine, transition })
        })
        .collect()
}
