//! Machines that lie beside a `.scr` file, judged: each by itself, for an error at a line of the
//! machine, and all together. The session that is generated from a machine is judged as all
//! sessions are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rumpsteak_fsm::subtype as relation;
use rumpsteak_fsm::verify::together::{Part, together};
use rumpsteak_fsm::verify::{Accepted, Evidence, Refused};
use rumpsteak_fsm::{Fsm, Message, StateId, Verdict};

use crate::codegen::machines::Machine;
use crate::fault::{Cause, Hint, MachineProblem, Refusal, Subject};
use crate::judge::subtype;
use crate::protocols::Protocols;
use crate::settings::{self, Settings};

/// What is wrong with the machines of a protocol.
pub(crate) fn problems(
    machines: &[Machine],
    protocols: &Protocols,
    settings: &Settings,
) -> Vec<Cause> {
    let judged = machines.iter().map(|of| (of, machine(of, protocols, settings)));
    let (accepted, refused): (Vec<_>, Vec<_>) = judged.partition(|(_, judged)| judged.is_ok());
    let refused = refused.into_iter().filter_map(|(_, judged)| Some(*judged.err()?));
    let mut problems: Vec<Cause> = refused.collect();
    let accepted = accepted.into_iter().filter_map(|(of, judged)| Some((of, judged.ok()?)));
    let accepted: Vec<(&Machine, Accepted)> = accepted.collect();
    if problems.is_empty() && accepted.len() > 1 {
        problems.extend(jointly(&accepted, protocols, settings));
    }
    problems
}

fn subject(machine: &Machine) -> Subject {
    Subject {
        name: machine.text.name.clone(),
        linked: machine.linked,
        roles: Vec::new(),
        labels: BTreeMap::new(),
    }
}

/// Judges the machines of a protocol together, each of which is accepted by itself.
fn jointly(
    accepted: &[(&Machine, Accepted)],
    protocols: &Protocols,
    settings: &Settings,
) -> Option<Cause> {
    let protocol = accepted.first()?.0.linked.protocol;
    let projections = &protocols.protocols[protocol].projections;
    let own = |role| accepted.iter().find(|(machine, _)| machine.linked.role == role);
    let machines = projections.iter().enumerate().map(|(role, of)| {
        own(role).map(|(machine, _)| machine.fsm.clone().on_demand(of.fsm.is_on_demand()))
    });
    let machines: Vec<Option<Fsm>> = machines.collect();
    let asked = settings.asked_of_all(projections.len());
    let parts = machines.iter().zip(projections).enumerate().map(|(role, (fsm, of))| {
        let proof = own(role).and_then(|(_, accepted)| accepted.proof.as_ref());
        let part =
            fsm.as_ref().map_or(Part::projection(&of.fsm), |fsm| Part::new(fsm, &of.fsm, proof));
        settings::part(part, asked[role])
    });
    let found = together(&parts.collect::<Vec<_>>(), &settings.limits.verifier);
    let (machine, _) = accepted.first()?;
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            let subject = Box::new(subject(machine));
            return Some(Cause::Unjudged { subject, error });
        }
    };
    let (position, condition) = found.condition?;
    let (machine, _) = own(position)?;
    let cause = match found.verdict {
        Verdict::Safe(()) => return None,
        Verdict::Undecided(limit) => {
            Cause::Undecided { subject: Box::new(subject(machine)), limit, fair: false }
        }
        Verdict::Unsafe(run) => {
            let evidence = Evidence::Run(run);
            let refused = Refused { refusal: None, condition: Some(condition), evidence };
            let others = accepted.iter().filter(|(other, _)| other.linked != machine.linked);
            let with = others.map(|(other, _)| other.text.name.clone()).collect();
            let fair = refused.neglected().is_some();
            let refusal = Refusal { with, fair, ..Refusal::new(subject(machine), refused) };
            let mut refusal = Box::new(refusal);
            mark(&mut refusal, machine);
            Cause::Refused(refusal)
        }
    };
    Some(cause)
}

/// Adds the place in the machine to a refusal.
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
) -> Result<Accepted, Box<Cause>> {
    let Machine { linked, fsm, text, states, .. } = machine;
    let subject = || subject(machine);
    let judged = subtype::judge_machine(protocols, subject, *linked, (fsm, &[]), settings);
    let judged = match judged {
        Ok(accepted) => {
            return unknown(machine, protocols).map_or(Ok(accepted), |found| Err(Box::new(found)));
        }
        Err(judged) => judged,
    };
    let (mut cause, defect) = *judged;
    if let Some(defect) = defect {
        let (file, problem) = (text.name.clone(), MachineProblem::Defect(defect));
        return Err(Box::new(Cause::Machine { file, problem }));
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

/// A message of a machine that the protocol has nowhere. An option that never comes is no harm, but
/// the code has no type for its message.
fn unknown(machine: &Machine, protocols: &Protocols) -> Option<Cause> {
    let Machine { linked, fsm, text, actions, .. } = machine;
    let protocol = &protocols.protocols[linked.protocol];
    let known = protocol.projections.iter().flat_map(|of| of.fsm.transitions());
    let known: BTreeSet<&Message> = known.map(|of| &of.action.message).collect();
    let mut reached = fsm.reachable().flat_map(|state| fsm.transitions_from(state));
    let unknown = reached.find(|of| !known.contains(&of.action.message))?;
    let span = actions.get(unknown.id.index())?.clone();
    let (text, file) = (Arc::clone(text), text.name.clone());
    let message = format!("`{}` has no `{}`", protocol.name(), unknown.action.message);
    let (scr, role) = (protocols.files[protocol.file].shown(), fsm.role());
    let help = format!(
        "take it out, with all that is done only after it; or propose the machine again: `cargo rumpsteak optimise {scr} --role {role}`"
    );
    let problem = MachineProblem::Foreign { text, span, message, help };
    Some(Cause::Machine { file, problem })
}

/// The transition to blame where an action is missing, or else the last one in the run.
fn blame(refused: &Refused, fsm: &Fsm) -> Option<usize> {
    let Some(refusal) = &refused.refusal else {
        let Evidence::Run(run) = &refused.evidence else { return None };
        let last = run.steps.iter().rev().find(|step| step.role == *fsm.role());
        let waits = run.waits.iter().find(|wait| wait.role == *fsm.role());
        let awaited = waits.and_then(|wait| Some(wait.transitions.first()?.0));
        let last = last.map(|last| last.transition);
        return Some(run.never(fsm).or(last).or(awaited)?.index());
    };
    let blamed = refusal.cycle.first().copied();
    let mut after = fsm.transitions_from(refusal.sub_state);
    let mut all = fsm.transitions();
    let before = || all.find(|transition| transition.target == refusal.sub_state);
    let missing = || after.next().or_else(before).map(|transition| transition.id);
    blamed.or_else(missing).map(|id| id.index())
}
