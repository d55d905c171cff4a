//! Refusals of sessions that are generated from machines beside a `.scr` file, in the words of the
//! machine, and with an error at one of its lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::verify::{Evidence, Refused};
use rumpsteak_fsm::{Action, Fsm, Run, TransitionId};

use crate::codegen::machines::Machine;
use crate::fault::{Cause, Hint, Subject};
use crate::judge::subtype;
use crate::protocols::Protocols;
use crate::settings::Settings;

pub(super) fn subject(machine: &Machine) -> Subject {
    Subject {
        name: machine.text.name.clone(),
        linked: machine.linked,
        roles: BTreeMap::new(),
        labels: BTreeMap::new(),
    }
}

/// The cause for a machine whose session is refused by itself, for this cause.
pub(super) fn cause(
    machine: &Machine,
    protocols: &Protocols,
    settings: &Settings,
    of_session: Cause,
) -> Cause {
    let Machine { linked, fsm, .. } = machine;
    let subject = || subject(machine);
    let judged = subtype::judge_machine(protocols, subject, *linked, (fsm, &[]), settings);
    judged.err().map_or(of_session, |cause| marked(*cause, machine))
}

/// A refusal with the place to blame in the text of the machine.
pub(super) fn marked(mut cause: Cause, machine: &Machine) -> Cause {
    let Machine { fsm, text, actions, .. } = machine;
    if let Cause::Refused(refusal) = &mut cause {
        let own = refusal.action.as_ref().map(|(id, _)| *id);
        let blamed = own.or_else(|| blame(&refusal.refused, fsm));
        let span = blamed.and_then(|blamed| actions.get(blamed.index()));
        refusal.machine = span.map(|span| (Arc::clone(text), span.clone()));
        let found = refusal.refused.refusal.as_ref();
        let is_first = found.is_some_and(|found| found.path.is_empty());
        refusal.hint = (is_first && text.name.ends_with(".dot")).then_some(Hint::Begins);
    }
    cause
}

/// The transition to blame: where an action is missing, or else the last one in the run.
fn blame(refused: &Refused, fsm: &Fsm) -> Option<TransitionId> {
    let Some(refusal) = &refused.refusal else {
        let Evidence::Run(run) = &refused.evidence else { return None };
        return last(run, fsm);
    };
    let before = || fsm.transitions().find(|transition| transition.target == refusal.sub_state);
    let missing = || fsm.transitions_from(refusal.sub_state).next().or_else(before);
    refusal.cycle.first().copied().or_else(|| Some(missing()?.id))
}

/// The last action of a machine in a run, or the receive that never happens. The run may be of the
/// session that is generated from the machine.
fn last(run: &Run, fsm: &Fsm) -> Option<TransitionId> {
    let (mut state, mut last) = (fsm.initial(), None);
    let next = |state, action: &Action| {
        fsm.transitions_from(state).find(|transition| transition.action == action)
    };
    for step in run.steps.iter().filter(|step| step.role == *fsm.role()) {
        let transition = next(state, &step.action)?;
        (state, last) = (transition.target, Some(transition.id));
    }
    let never = match &run.failure {
        Failure::Never { action, .. } => next(state, action),
        _ => None,
    };
    let waits = || fsm.transitions_from(state).next();
    never.map(|never| never.id).or(last).or_else(|| Some(waits()?.id))
}
