//! Machines beside a `.scr` file: each by itself, for an error at a line of the machine, and all
//! together. The sessions generated from them are judged like all sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rumpsteak_fsm::subtype as relation;
use rumpsteak_fsm::verify::{Accepted, Evidence, Refused};
use rumpsteak_fsm::{Fsm, Message, StateId};

use crate::codegen::machines::Machine;
use crate::fault::{Cause, Hint, Refusal, Subject};
use crate::judge::{subtype, together};
use crate::protocols::Protocols;
use crate::settings::Settings;

pub(crate) fn problems(
    machines: &[Machine],
    protocols: &Protocols,
    settings: &Settings,
) -> Vec<Cause> {
    let (mut accepted, mut problems) = (Vec::new(), Vec::new());
    for of in machines {
        match machine(of, protocols, settings) {
            Ok(found) => accepted.push((of, found)),
            Err(cause) => problems.push(*cause),
        }
    }
    if problems.is_empty() && accepted.len() > 1 {
        problems.extend(jointly(&accepted, protocols, settings));
    }
    problems
}

fn subject(machine: &Machine) -> Subject {
    Subject {
        name: machine.text.name.clone(),
        linked: machine.linked,
        roles: BTreeMap::new(),
        labels: BTreeMap::new(),
    }
}

/// Judges the machines of a protocol together, after each was accepted by itself.
fn jointly(
    accepted: &[(&Machine, (Accepted, bool))],
    protocols: &Protocols,
    settings: &Settings,
) -> Option<Cause> {
    let protocol = &protocols.protocols[accepted.first()?.0.linked.protocol];
    let machines = accepted.iter().map(|(machine, _)| {
        let projection = &protocol.projections[machine.linked.role].fsm;
        machine.fsm.clone().on_demand(projection.is_on_demand())
    });
    let machines: Vec<Fsm> = machines.collect();
    let mut sessions = vec![Vec::new(); protocol.projections.len()];
    for (root, ((machine, found), fsm)) in accepted.iter().zip(&machines).enumerate() {
        let (accepted, in_any_order) = (&found.0, found.1);
        let session = together::Session { root, fsm, accepted, in_any_order };
        sessions[machine.linked.role].push(session);
    }
    let found = together::judge(protocol, &sessions, &settings.required, &settings.limits);
    let (root, fault) = found.refused.into_iter().next()?;
    let (machine, _) = &accepted[root];
    let mut cause = fault.cause(subject(machine), |other| accepted[other].0.text.name.clone());
    if let Cause::Refused(refusal) = &mut cause {
        mark(refusal, machine);
    }
    Some(cause)
}

fn mark(refusal: &mut Refusal, machine: &Machine) {
    let own = refusal.action.as_ref().map(|(id, _)| id.index());
    let blamed = own.or_else(|| blame(&refusal.refused, &machine.fsm));
    let span = blamed.and_then(|blamed| machine.actions.get(blamed));
    refusal.machine = span.map(|span| (Arc::clone(&machine.text), span.clone()));
}

fn machine(
    machine: &Machine,
    protocols: &Protocols,
    settings: &Settings,
) -> Result<(Accepted, bool), Box<Cause>> {
    let Machine { linked, fsm, text, states, .. } = machine;
    let subject = || subject(machine);
    let judged = subtype::judge_machine(protocols, subject, *linked, (fsm, &[]), settings);
    let mut cause = match judged {
        Ok(accepted) => {
            return unknown(machine, protocols).map_or(Ok(accepted), |found| Err(Box::new(found)));
        }
        Err(cause) => *cause,
    };
    if let Cause::AmbiguousChoice { defect, .. } = cause {
        let headline = format!("the machine in {} is not a session type: {defect}", text.name);
        return Err(Box::new(Cause::Machine { headline, place: None, help: None }));
    }
    if let Cause::Refused(refusal) = &mut cause {
        mark(refusal, machine);
        let is_first =
            |found: &relation::Refusal| found.path.is_empty() && text.name.ends_with(".dot");
        if refusal.refused.refusal.as_ref().is_some_and(is_first) {
            let begins =
                subtype::beginning(fsm, &protocols.protocols[linked.protocol], linked.role);
            let name = |state: StateId| states.get(state.index()).cloned();
            let begins = begins.and_then(|state| Some([name(fsm.initial())?, name(state)?]));
            refusal.hint = begins.map(Hint::Begins);
        }
    }
    Err(Box::new(cause))
}

/// A message that the protocol lacks, so that generated code has no type for it.
fn unknown(machine: &Machine, protocols: &Protocols) -> Option<Cause> {
    let Machine { linked, fsm, text, actions, .. } = machine;
    let protocol = &protocols.protocols[linked.protocol];
    let known = protocol.projections.iter().flat_map(|of| of.fsm.transitions());
    let known: BTreeSet<&Message> = known.map(|of| &of.action.message).collect();
    let mut reached = fsm.reachable().flat_map(|state| fsm.transitions_from(state));
    let unknown = reached.find(|of| !known.contains(&of.action.message))?;
    let span = actions.get(unknown.id.index())?.clone();
    let (name, message) = (protocol.name(), &unknown.action.message);
    let headline = format!("the machine in {}: `{name}` has no `{message}`", text.name);
    let (scr, role) = (protocols.files[protocol.file].shown(), fsm.role());
    let help = format!(
        "take it out, with all that is done only after it; or propose the machine again: `cargo rumpsteak optimise {scr} --role {role}`"
    );
    let place = Some((Arc::clone(text), span));
    Some(Cause::Machine { headline, place, help: Some(help) })
}

/// The transition to blame: where an action is missing, or else the last one in the run.
fn blame(refused: &Refused, fsm: &Fsm) -> Option<usize> {
    let Some(refusal) = &refused.refusal else {
        let Evidence::Run(run) = &refused.evidence else { return None };
        let last = run.steps.iter().rev().find(|step| step.role == *fsm.role());
        let waits = run.waits.iter().find(|wait| wait.role == *fsm.role());
        let awaited = waits.and_then(|wait| Some(wait.transitions.first()?.0));
        let last = last.map(|last| last.transition);
        return Some(run.never(fsm).or(last).or(awaited)?.index());
    };
    let before = || fsm.transitions().find(|transition| transition.target == refusal.sub_state);
    let missing = || fsm.transitions_from(refusal.sub_state).next().or_else(before);
    let blamed = refusal.cycle.first().copied();
    blamed.or_else(|| Some(missing()?.id)).map(|id| id.index())
}
