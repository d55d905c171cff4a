//! The texts for sessions and machines that are not subtypes of their projections.

use std::fmt::Write as _;

use rumpsteak_fsm::repair::Misfit;
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::subtype::{self, Rule};
use rumpsteak_fsm::verify::Evidence;
use rumpsteak_fsm::verify::together::Condition;
use rumpsteak_fsm::{Action, Fsm, Role, StateId, TransitionId};
use rumpsteak_scribble::{Projection, Span};

use super::excerpt::Excerpt;
use super::reordering::{ActionText, BrokenRule, one_of};
use super::{failure, shortest};
use crate::fault::{Hint, Refusal, Subject};
use crate::protocols::{Loaded, ScrFile};
use crate::settings::attribute;
use crate::words::{count, list};

/// The text for a session or a machine that is not a subtype of its projection.
pub(crate) fn text(refusal: &Refusal, (protocol, file): (&Loaded, &ScrFile)) -> String {
    let Refusal { subject, action, misfit, with, refused, fair, others, machine, .. } = refusal;
    let in_machine = machine.as_ref().map(|it| Excerpt::of_place(it, "here in the machine"));
    let in_machine = in_machine.map(|excerpt| excerpt.to_string());
    let Some(found) = &refused.refusal else {
        let told = |of| beyond_subtyping(of, &refused.evidence, subject, protocol);
        let (mut text, help) = refused.condition.as_ref().map(told).unwrap_or_else(|| {
            let name = &subject.name;
            (format!("`{name}` goes wrong with the other roles of the protocol"), String::new())
        });
        if let Some(excerpt) = &in_machine {
            let _ = write!(text, "\n\n{}", excerpt.trim_end());
        }
        evidence(&mut text, &refused.evidence, with);
        return text + &help + &fair_note(*fair, refused.neglected(), subject, protocol);
    };
    let projection = &protocol.projections[subject.role];
    let sub = action.as_ref().map(|(_, action)| action);
    let deed = |action: &Action| {
        ActionText::new(action, subject.label(&action.message), subject.player(&action.peer))
    };
    let due = |id: TransitionId| deed(projection.fsm.transition(id).action);
    let due_actions = due_actions(&projection.fsm, found, misfit.is_some());
    let broken = BrokenRule {
        rule: found.rule,
        misfit: misfit.as_ref().map(|misfit| (misfit, &due as &dyn Fn(TransitionId) -> ActionText)),
        subject: &format!("`{}`", subject.name),
        sup: &projection.fsm,
        refusal: found,
        action: sub,
        place: "the protocol",
        role: protocol.role_at(subject.role).as_str(),
        is_machine: machine.is_some(),
        comes_again: comes_again(&projection.fsm, found.sup_state, &refused.evidence),
        done: sub.map(deed),
        due: due_actions.map(|ids| one_of(&ids, &due)),
    };
    let order = [Rule::InputBeforeOutput, Rule::InputsFromOnePeer, Rule::OutputsToOnePeer];
    let is_order = broken.misfit.is_none() && order.contains(&broken.rule);
    let kind = if is_order { "unsafe reordering: " } else { "" };
    let [mut sentence, advice] = broken.texts();
    // The session does this, but not often enough.
    if let (Some(Misfit::Missing(due, false)), Evidence::Run(run)) = (misfit, &refused.evidence) {
        let own = run.steps.iter().filter(|step| step.role == *projection.fsm.role());
        let mut own = own.map(|step| &step.action);
        if own.any(|own| due.iter().all(|id| own == projection.fsm.transition(*id).action)) {
            sentence = sentence.replacen("does not receive", "does not receive another", 1);
            sentence = sentence.replacen("does not send", "does not send another", 1);
        }
    }
    let mut text = format!("{kind}{sentence}\n\n");
    text.extend(in_machine.map(|excerpt| excerpt + "\n"));
    text.push_str(&excerpt(&broken, projection, (protocol, file)));
    // A fair subtype makes no peer get stuck.
    if others.is_none() && !(*fair && matches!(refused.evidence, Evidence::NoRun(_))) {
        evidence(&mut text, &refused.evidence, with);
    }
    let fair = fair_note(*fair, None, subject, protocol);
    let help = match &refusal.hint {
        Some(Hint::RightPart(part)) => format!("write `{part}` here: then the session fits"),
        _ => advice + &further_help(refusal, found, protocol).unwrap_or_default(),
    };
    // Writing to a string does not fail.
    let _ = write!(text, "\n\n{}help: {help}{fair}", notes(refusal));
    text
}

/// Notes about a shared part with the mistake, and about other refused sessions.
fn notes(refusal: &Refusal) -> String {
    let Refusal { subject, part, others, .. } = refusal;
    let mut notes = String::new();
    if let Some([part, line, right]) = part {
        let name = &subject.name;
        let _ = writeln!(
            notes,
            "note: this is in `{part}` at {line}, a part that is right in `{right}`: `{name}` may need one of its own"
        );
    }
    if let Some(others) = others.as_deref().filter(|others| !others.is_empty()) {
        let are = if others.len() == 1 { "is" } else { "are" };
        let others = list(others.iter().map(String::as_str));
        let _ = writeln!(
            notes,
            "note: {others} {are} refused, too, which is said once these two are mended"
        );
    }
    notes
}

/// True if a state of the protocol can recur. A protocol that never ends recurs wherever a session
/// ends. False if the last action of the run has ended the loop.
fn comes_again(fsm: &Fsm, state: StateId, evidence: &Evidence) -> bool {
    let leads_to = |from| fsm.reachable_from(from).any(|to| to == state);
    if let Evidence::Run(run) = evidence
        && let Some(last) = run.steps.iter().rfind(|step| step.role == *fsm.role())
    {
        let mut same = fsm.transitions().filter(|own| *own.action == last.action).peekable();
        if same.peek().is_some() && !same.any(|own| leads_to(own.target)) {
            return false;
        }
    }
    let mut options = fsm.transitions_from(state);
    options.any(|option| leads_to(option.target)) || !fsm.states().any(|state| fsm.may_end(state))
}

/// Advice about a machine that may begin in the wrong state, or about a role with several sessions,
/// one of which may be a part of another.
fn further_help(refusal: &Refusal, found: &subtype::Refusal, protocol: &Loaded) -> Option<String> {
    let Refusal { subject, misfit, hint, .. } = refusal;
    let (name, role) = (&subject.name, subject.player(protocol.role_at(subject.role)));
    match (hint, misfit) {
        (Some(Hint::Begins), _) => Some(
            "\nhelp: or, if it begins in the wrong state, name the right one first: `STATE;` before all edges"
                .to_owned(),
        ),
        (
            Some(Hint::Sibling),
            Some(Misfit::Missing(..) | Misfit::Undecided(..) | Misfit::Superfluous(_)),
        ) if found.path.is_empty() => Some(format!(
            "\nhelp: or, if `{name}` is a part of a session that other functions go on with: `#[session]` \
             without a role, and `{name}<'_, {role}>` in the signature"
        )),
        _ => None,
    }
}

/// A note for a fair subtype. It names the role that may wait for ever, or else the session's role.
pub(super) fn fair_note(
    fair: bool,
    waiting: Option<&Role>,
    subject: &Subject,
    protocol: &Loaded,
) -> String {
    if !fair {
        return String::new();
    }
    let role = waiting.unwrap_or(protocol.role_at(subject.role));
    let script = attribute(protocol.name(), &format!("fair({role})"));
    format!(
        "\n\nnote: it holds if choices are fair: what is put off can always still be done, but need not be in every run\n\
         help: if that is enough, accept it:\n      {script}"
    )
}

/// The headline for a mistake of a subtype, and the advice with `help:` in front.
fn beyond_subtyping(
    condition: &Condition,
    evidence: &Evidence,
    subject: &Subject,
    protocol: &Loaded,
) -> (String, String) {
    let name = &subject.name;
    if let Evidence::Run(run) = evidence
        && let Failure::Never { action, after, .. } = &run.failure
    {
        let told = |action: &Action| {
            [subject.label(&action.message), subject.player(&action.peer).to_owned()]
        };
        let [label, peer] = told(action);
        let headline = format!(
            "`{name}` receives `{label}` from `{peer}` or sends something here, and `{label}` never comes here: a process that \
             waits for it hangs"
        );
        let help = after.as_ref().map(told).map_or(
            format!("take `{label}` out here"),
            |[sent, to]| format!("`{peer}` sends it after `{sent}`: receive it behind the send of `{sent}` to `{to}`"),
        );
        return (headline, format!("\n\nhelp: {help}"));
    }
    let (headline, help) = match condition {
        Condition::NarrowedChoice(_, option) => {
            let (label, peer) = (subject.label(&option.message), subject.player(&option.peer));
            let headline = format!(
                "unsafe choice: `{name}` leaves out an option that other roles rely on: it does \
                 not send `{label}` to `{peer}` here"
            );
            let help = format!(
                "let some way through the choice send `{label}`, or take the option out of the \
                 protocol"
            );
            (headline, help)
        }
        Condition::UndirectedPeer(peer, _) => {
            let headline = format!(
                "unsafe reordering: `{name}` does something before its turn, and `{}` hears several \
                 roles at once, so that it may take the one for the other",
                subject.player(peer)
            );
            (headline, "keep the order of the protocol".to_owned())
        }
        Condition::Undirected(_) => {
            let headline = format!(
                "unsafe order: `{name}` does not do everything at its turn, and where a role \
                 chooses among several peers, or between sending and receiving, that goes wrong"
            );
            let help = if let Evidence::Run(run) = evidence
                && let Failure::UnspecifiedReception { from, to } = &run.failure
                && to == protocol.role_at(subject.role)
            {
                let from = subject.player(from);
                format!(
                    "handle the message from `{from}` there as well: it may be under way already"
                )
            } else {
                "do what the protocol says, in its order".to_owned()
            };
            (headline, help)
        }
    };
    (headline, format!("\n\nhelp: {help}"))
}

/// Appends the run with the sessions `with` of other roles, or the reason for its absence.
fn evidence(text: &mut String, evidence: &Evidence, with: &[String]) {
    match evidence {
        Evidence::Run(run) => {
            let others = if with.is_empty() { String::new() } else { list(with) + " and " };
            let _ = write!(
                text,
                "\n\nthe shortest run that {}, with {others}all other roles as the protocol has them:\n\n{}",
                failure(run),
                run.chart().trim_end()
            );
        }
        _ => {
            let peers = "with the other roles exactly as the protocol has them,";
            let _ = write!(text, "\n\nnote: {}", without_run(evidence, peers));
        }
    }
}

/// The actions that are due: all alternatives, if the session ends too early or does another one.
fn due_actions(fsm: &Fsm, found: &subtype::Refusal, has_misfit: bool) -> Option<Vec<TransitionId>> {
    let id = found.sup?;
    let is_early_end = found.rule == Rule::Forgotten && found.cycle.is_empty();
    if !has_misfit && !is_early_end {
        return Some(vec![id]);
    }
    let due = fsm.transition(id);
    let options = fsm.transitions_from(due.source).filter(|option| {
        (&option.action.peer, option.action.direction) == (&due.action.peer, due.action.direction)
    });
    Some(options.map(|option| option.id).collect())
}

fn excerpt(
    broken: &BrokenRule<'_>,
    projection: &Projection,
    (protocol, file): (&Loaded, &ScrFile),
) -> String {
    const MOST: usize = 3;
    let marks = broken.marks().into_iter().flat_map(|(id, label)| {
        projection.origins(id).iter().take(MOST).map(move |&span| (span, label.clone()))
    });
    let mut marks: Vec<(Span, String)> = marks.collect();
    if marks.is_empty() {
        let role = projection.fsm.role();
        let declared = protocol.protocol.role_span(role);
        let name = protocol.protocol.name().span;
        marks.push((declared.unwrap_or(name), format!("the role `{role}`")));
    }
    Excerpt::of_spans(&file.module.texts, &marks).to_string()
}

/// The behaviour with these `peers`; of a run, what goes wrong.
pub(super) fn without_run(evidence: &Evidence, peers: &str) -> String {
    match evidence {
        Evidence::Run(run) => format!("among these peers, {}; {}", run.failure, shortest(run)),
        Evidence::NoRun(coverage) => {
            let limit = format!(" with at most {} in a queue", count(coverage.bound, "message"));
            let how_far = if coverage.exhaustive { "" } else { &limit };
            format!("{peers} nothing goes wrong{how_far}; it may if another role is reordered, too")
        }
        Evidence::NoSystem(error) => error.to_string(),
    }
}
