//! `S04..`: the projection onto one role.

use super::{
    code::Code,
    diagnostic::Diagnostic,
    name_errors::suggest,
    span::{Name, Span},
};

/// How two runs that look the same to a role part.
#[derive(Clone, Debug)]
pub(crate) struct Branches {
    /// The role that decides.
    pub(crate) chooser: String,
    /// The interaction that one run takes, and the other run's, if it goes on.
    pub(crate) one: Step,
    pub(crate) other: Option<Step>,
    /// The shortest two runs that look the same to the role, interaction by interaction.
    pub(crate) runs: [Vec<String>; 2],
}

/// An interaction in words.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// `value(i32)`
    pub(crate) label: String,
    pub(crate) span: Span,
}

/// Adds where the runs part and the runs, if two were found, and the way out.
fn branching(
    mut diagnostic: Diagnostic,
    role: &str,
    branches: Option<&Branches>,
    help: String,
) -> Diagnostic {
    if let Some(Branches {
        chooser,
        one,
        other,
        runs,
    }) = branches
    {
        let primary = diagnostic.primary;
        if one.span != primary {
            diagnostic = diagnostic.with(one.span, format!("`{chooser}` chooses this branch…"));
        }
        if let Some(other) = other.as_ref().filter(|other| other.span != primary) {
            let label = format!("…or this one, and `{role}` cannot tell");
            diagnostic = diagnostic.with(other.span, label);
        }
        let [one, other] = runs.each_ref().map(|run| line(run));
        diagnostic = diagnostic.note(format!(
            "these runs look the same to `{role}`:\n  1. {one}\n  2. {other}"
        ));
    }
    diagnostic.help(help)
}

/// A run on one line of a terminal: its end, where it is too long.
fn line(run: &[String]) -> String {
    const WIDTH: usize = 64;
    if run.is_empty() {
        return "nothing has happened yet".to_owned();
    }
    let mut width = 0;
    let shown = run.iter().rev().take_while(|step| {
        width += step.chars().count() + 2;
        width <= WIDTH
    });
    // The last step is shown even if it is too long alone.
    let left_out = run.len() - shown.count().max(1);
    let text = run[left_out..].join("; ");
    if left_out == 0 {
        text
    } else {
        format!("({left_out} more); {text}")
    }
}

pub(crate) fn send_unknown(role: &str, sent: &Step, branches: Option<&Branches>) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::SendUnknown,
        format!(
            "`{role}` must send `{}` without knowing the branch",
            sent.label
        ),
        sent.span,
        format!("`{role}` sends this in one branch, and not in another"),
    );
    let help = format!("first tell `{role}` the branch, by a different message in each");
    branching(diagnostic, role, branches, help)
}

pub(crate) fn overtaken(
    role: &str,
    awaited: &Step,
    taken: &Step,
    branches: Option<&Branches>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::Overtaken,
        format!("`{role}` cannot tell branches apart, since messages may overtake"),
        awaited.span,
        "this can arrive first in both branches",
    )
    .with(
        taken.span,
        format!("in one of them `{role}` waits for this first"),
    );
    let help = format!("give the messages to `{role}` other labels in one of the branches");
    branching(diagnostic, role, branches, help)
}

pub(crate) fn send_or_receive(
    role: &str,
    sends: &Step,
    receives: &Step,
    branches: Option<&Branches>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::SendOrReceive,
        format!("`{role}` does not know whether to send or to wait"),
        sends.span,
        format!("in one branch `{role}` sends this"),
    )
    .with(receives.span, "in another it waits for this");
    let help = format!("first tell `{role}` the branch, by a different message in each");
    branching(diagnostic, role, branches, help)
}

/// `ends` if the protocol can be over without the message.
pub(crate) fn never_told(
    role: &str,
    awaited: &Step,
    branches: Option<&Branches>,
    ends: bool,
) -> Diagnostic {
    let happens = if ends {
        "the protocol may be over without it"
    } else {
        "the others may go on without it"
    };
    let diagnostic = Diagnostic::new(
        Code::NeverTold,
        format!("`{role}` may wait for `{}` for ever", awaited.label),
        awaited.span,
        format!("`{role}` waits, but {happens}"),
    );
    let help = format!("tell `{role}` in the other branch too");
    branching(diagnostic, role, branches, help)
}

pub(crate) fn payload_unknown(
    role: &str,
    one: &Step,
    other: &Step,
    branches: Option<&Branches>,
) -> Diagnostic {
    let message = format!(
        "`{role}` cannot tell `{}` from `{}`",
        other.label, one.label
    );
    let diagnostic = Diagnostic::new(Code::PayloadUnknown, message, other.span, "this one")
        .with(one.span, "or this one, under the same label");
    let help = "give the messages different labels: a receiver goes by the label alone";
    branching(diagnostic, role, branches, help.to_owned())
}

/// `limit` is the setting that is met, and `value` what it is set to.
pub(crate) fn projection_too_large(
    role: &str,
    declared: Span,
    limit: &str,
    value: usize,
) -> Diagnostic {
    Diagnostic::new(
        Code::ProjectionTooLarge,
        format!("projecting onto `{role}` meets the limit {value} of `{limit}`"),
        declared,
        "too large to be projected",
    )
    .help(format!(
        "tell `{role}` of choices earlier, or raise `Limits::{limit}`"
    ))
}

pub(crate) fn no_such_role(role: &str, protocol: &Name, known: &[&str]) -> Diagnostic {
    let message = format!("the protocol `{protocol}` has no role `{role}`");
    Diagnostic::new(Code::NoSuchRole, message, protocol.span, "declared here")
        .maybe_help(suggest(role, known))
}
