//! What is wrong at each `protocol!(…)`: with the code of the protocol, and with the machines that
//! it is generated from.
//!
//! A machine beside a `.scr` file is judged as a session is. What is wrong is said with its line in
//! the machine and its line in the protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rumpsteak_fsm::subtype::Refusal;
use rumpsteak_fsm::verify::{Evidence, Refused};
use rumpsteak_fsm::{Fsm, Message, StateId};
use syn::ext::IdentExt as _;

use crate::codegen::Generated;
use crate::codegen::machines::Machine;
use crate::configuration::Configuration;
use crate::fault::{Cause, MachineProblem, Note, Subject};
use crate::judge::judgement::{ClosedSystem, Judgement};
use crate::judge::subtype;
use crate::protocols::Protocols;
use crate::source::crate_tree::{Inclusion, Tree};

/// What is wrong with the code of a protocol. With it, for a machine that its projection refuses or
/// does not decide about, comes the position of the protocol.
type Problem = (Cause, Option<usize>);

/// What is wrong at a `protocol!(…)` that includes this code.
pub(crate) fn judge(
    tree: &Tree,
    inclusion: &Inclusion,
    generated: &Generated,
    protocols: &Protocols,
    systems: &BTreeMap<usize, ClosedSystem>,
    configuration: &Configuration,
) -> Vec<(Cause, Option<Note>)> {
    if let Some(first) = inclusion.first.map(|first| &tree.inclusions[first]) {
        let name = inclusion.item.name.unraw().to_string();
        let first = tree.path_in(first.module, &first.item.module());
        return vec![(Cause::IncludedTwice { name, first }, None)];
    }
    let mut raised = Vec::new();
    if inclusion.is_missed {
        let (protocol, module) = (inclusion.item.name.to_string(), inclusion.item.module());
        raised.push((Cause::PrivateCode { protocol, module }, None));
    }
    for (cause, refused) in problems(generated, protocols, configuration) {
        // The session that is generated from the machine is refused for the same reason, and may be
        // safe in a closed system.
        let system = refused.and_then(|protocol| systems.get(&protocol));
        if system.is_none_or(|system| !system.is_accepted) {
            raised.push((cause, system.and_then(|system| system.note.clone())));
        }
    }
    raised
}

/// What is wrong with the code of a protocol.
pub(crate) fn problems(
    generated: &Generated,
    protocols: &Protocols,
    configuration: &Configuration,
) -> Vec<Problem> {
    let read = generated.problems.iter().cloned();
    let mut problems: Vec<Problem> = read.map(|cause| (cause, None)).collect();
    let machines = generated.machines.iter();
    problems
        .extend(machines.filter_map(|machine| self::machine(machine, protocols, configuration)));
    // A machine that is wrong may be one that cannot be written, too.
    if problems.is_empty() {
        problems.extend(generated.unwritable.clone().map(|cause| (cause, None)));
    }
    problems
}

/// Raises at each `protocol!(…)` what is said of an item that it generates and is not about its
/// protocol or a machine: no line of that is the user's.
pub(crate) fn raise(tree: &Tree, judgement: &mut Judgement) {
    let of_file = |file| tree.inclusions.iter().position(|of| of.included == Some(file));
    for item in judgement.faults.items() {
        let Some(position) = of_file(tree.item(item).file) else { continue };
        let faults = judgement.faults.of(item).iter().map(|fault| &fault.cause);
        let raised = faults.filter(|cause| matches!(cause, Cause::Unmarked { .. }));
        judgement.inclusions[position].extend(raised.map(|cause| (cause.clone(), None)));
    }
}

fn machine(
    machine: &Machine,
    protocols: &Protocols,
    configuration: &Configuration,
) -> Option<Problem> {
    let Machine { linked, fsm, text, actions, states } = machine;
    let subject = || Subject {
        name: text.name.clone(),
        linked: *linked,
        roles: Vec::new(),
        labels: BTreeMap::new(),
    };
    let judged = subtype::judge_machine(protocols, subject, *linked, (fsm, &[]), configuration);
    let Err(judged) = judged else { return unknown(machine, protocols) };
    let (mut cause, defect) = *judged;
    if let Some(defect) = defect {
        let (file, problem) = (text.name.clone(), MachineProblem::Defect(defect));
        return Some((Cause::Machine { file, problem }, None));
    }
    if let Cause::Refused(refusal) = &mut cause {
        let own = refusal.action.as_ref().map(|(id, _)| id.index());
        let blamed = own.or_else(|| blame(&refusal.refused, fsm));
        let span = blamed.and_then(|blamed| actions.get(blamed));
        refusal.machine = span.map(|span| (Arc::clone(text), span.clone()));
        let is_first = |found: &Refusal| found.path.is_empty() && text.name.ends_with(".dot");
        if refusal.refused.refusal.as_ref().is_some_and(is_first) {
            let begins =
                subtype::beginning(fsm, &protocols.protocols[linked.protocol], linked.role);
            let name = |state: StateId| states.get(state.index()).cloned();
            refusal.begins = begins.and_then(|state| Some([name(fsm.initial())?, name(state)?]));
        }
    }
    let is_judged = matches!(cause, Cause::Refused(_) | Cause::Undecided { .. });
    Some((cause, is_judged.then_some(linked.protocol)))
}

/// A message of a machine that the protocol has nowhere. An option that never comes is no harm, but
/// the code has no type for its message.
fn unknown(machine: &Machine, protocols: &Protocols) -> Option<Problem> {
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
    Some((
        Cause::Machine { file, problem: MachineProblem::Foreign { text, span, message, help } },
        None,
    ))
}

/// The transition to blame where an action is missing, or else the last one in the run.
fn blame(refused: &Refused, fsm: &Fsm) -> Option<usize> {
    let Some(refusal) = &refused.refusal else {
        let Evidence::Run(run) = &refused.evidence else { return None };
        let last = run.steps.iter().rev().find(|step| step.role == *fsm.role())?;
        return Some(last.transition.index());
    };
    let blamed = refusal.cycle.first().copied();
    let mut after = fsm.transitions_from(refusal.sub_state);
    let mut all = fsm.transitions();
    let before = || all.find(|transition| transition.target == refusal.sub_state);
    let missing = || after.next().or_else(before).map(|transition| transition.id);
    blamed.or_else(missing).map(|id| id.index())
}
