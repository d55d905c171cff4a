//! `S04..`: the projection onto one role.

use rumpsteak_fsm::Limit;
use rumpsteak_fsm::bounded::Growth;

use super::global_errors::equal_beginning;
use super::name_errors::suggest;
use super::{Code, Diagnostic, Name, Span};

/// `family` is a family among the roles.
pub(crate) fn undecided_family(role: &Name, reason: &str, at: Span, family: &Name) -> Diagnostic {
    let message = format!("unknown whether any number of `{family}` is safe");
    Diagnostic::new(Code::UndecidedFamily, message, at, format!("undecided for `{role}`"))
        .with(family.span, "the family is declared here")
        .note(reason.to_owned())
        .help(format!("write each member as a role: `{family}1`, `{family}2`, …"))
}

/// The point where two runs part that look the same to a role.
#[derive(Clone, Debug)]
pub(crate) struct Branches {
    pub(crate) chooser: String,
    /// The next interaction of one run, and of the other one if it goes on.
    pub(crate) one: Step,
    pub(crate) other: Option<Step>,
    /// The message before, if the role sees it and several branches begin with it.
    pub(crate) equal: Vec<Span>,
    /// True if a message that overtakes belongs to a later round of a loop.
    pub(crate) again: bool,
    /// True if the other run ends with the message for which the role waits in the first one.
    pub(crate) is_told: bool,
    /// True if all roles can follow the protocol once both runs have the message of the other one.
    pub(crate) needs_same: bool,
    /// The interactions of the two shortest runs that look the same to the role.
    pub(crate) runs: [Vec<String>; 2],
}

/// A message that may overtake one that is sent before it.
pub(crate) struct Early {
    pub(crate) sender: String,
    pub(crate) span: Span,
    /// True if all roles can follow the protocol with other labels for the receiver.
    pub(crate) by_label: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// `value(i32)`
    pub(crate) label: String,
    pub(crate) span: Span,
}

/// Adds the runs, and the place where they part.
fn branching(mut diagnostic: Diagnostic, role: &str, branches: &Branches) -> Diagnostic {
    let primary = diagnostic.primary;
    // The labels read in the order of the text.
    let (one, other) = match (branches.one.span, branches.other.as_ref().map(|step| step.span)) {
        (one, Some(other)) if other < one && ![one, other].contains(&primary) => (other, Some(one)),
        found => found,
    };
    if one != primary {
        let chooses = if branches.equal.is_empty() { "chooses" } else { "then has to choose" };
        let label = format!("`{}` {chooses} this branch…", branches.chooser);
        diagnostic = diagnostic.with(one, label);
    }
    if let Some(other) = other.filter(|&other| other != primary) {
        let first = if one == primary { "the run may take this branch" } else { "…or this one" };
        diagnostic = diagnostic.with(other, format!("{first}, and `{role}` cannot tell"));
    }
    let [one, other] = lines(&branches.runs);
    let same = match diagnostic.code {
        Code::Overtaken => format!("these runs can look the same to `{role}`, by what comes first"),
        _ => format!("these runs look the same to `{role}`"),
    };
    diagnostic.note(format!("{same}:\n  1. {one}\n  2. {other}"))
}

/// Two runs, each on one line. If their shown ends are equal, only the parts before are shown.
fn lines(runs @ [one, other]: &[Vec<String>; 2]) -> [String; 2] {
    let lines = runs.each_ref().map(|run| line(run));
    if lines[0] != lines[1] || one == other {
        return lines;
    }
    let ends = one.iter().rev().zip(other.iter().rev());
    let same = ends.take_while(|(one, other)| one == other).count();
    runs.each_ref().map(|run| format!("{}; ({same} more)", line(&run[..run.len() - same])))
}

/// A run on a few lines of a terminal. Of a long one, only the end is shown.
fn line(run: &[String]) -> String {
    const WIDTH: usize = 64;
    const LINES: usize = 4;
    if run.is_empty() {
        return "nothing has happened yet".to_owned();
    }
    let mut width = 0;
    let shown = run.iter().rev().take_while(|step| {
        width += step.chars().count() + 2;
        width <= LINES * WIDTH
    });
    // The last step is shown even if it is too long alone.
    let left_out = run.len() - shown.count().max(1);
    let more = (left_out > 0).then(|| format!("({left_out} more)"));
    let mut text = String::new();
    let mut width = 0;
    for step in more.iter().chain(&run[left_out..]) {
        let step_width = step.chars().count() + 2;
        if width > 0 {
            let is_full = width + step_width > WIDTH;
            text += if is_full { ";\n     " } else { "; " };
            width = if is_full { 0 } else { width };
        }
        width += step_width;
        text += step;
    }
    text
}

/// A role cannot follow the protocol: in one branch it does `one`, in another one `other` or
/// nothing. `ends` is true if the protocol may be over there.
pub(crate) fn problem(
    code: Code,
    role: &str,
    (one, other): (Step, Option<Step>),
    ends: bool,
    early: Option<Early>,
    branches: Option<Branches>,
) -> Diagnostic {
    let label = one.label;
    let other_label = other.as_ref().map_or("", |other| &other.label);
    let others = if ends { "protocol may be over" } else { "others may go on" };
    let told = format!("first tell `{role}` the branch, by a different message in each");
    let (message, here, there, mut help) = match code {
        Code::SendUnknown => (
            format!("`{role}` must send `{label}` without knowing the branch"),
            format!("`{role}` sends this in one branch, and not in another"),
            String::new(),
            told,
        ),
        Code::Overtaken => (
            format!("`{role}` cannot tell branches apart, since messages may overtake"),
            "this can arrive first in both branches".to_owned(),
            format!("in one of them `{role}` waits for this first"),
            String::new(),
        ),
        Code::SendOrReceive => (
            format!("`{role}` does not know whether to send or to wait"),
            format!("in one branch `{role}` sends this"),
            "in another it waits for this".to_owned(),
            told,
        ),
        Code::NeverTold => (
            format!("`{role}` may wait for `{label}` for ever"),
            format!("`{role}` waits, but the {others} without it"),
            String::new(),
            format!("tell `{role}` in the other branch too"),
        ),
        Code::BlockUnknown => (
            format!("`{role}` does not know whether this block begins"),
            format!("`{role}` takes part in it in one branch, and not in another"),
            "in another branch this comes".to_owned(),
            told,
        ),
        // Two receives with one label: `Code::PayloadUnknown`.
        _ => (
            format!("`{role}` cannot tell `{label}` from `{other_label}`"),
            "this one".to_owned(),
            "or this one, under the same label".to_owned(),
            "give the messages different labels: a receiver sees only the label".to_owned(),
        ),
    };
    let mut diagnostic = Diagnostic::new(code, message, one.span, here);
    if let Some(other) = &other {
        diagnostic = diagnostic.with(other.span, there);
    }
    if let Some(early) = early {
        let again = branches.as_ref().is_some_and(|branches| branches.again);
        (diagnostic, help) = overtaking(diagnostic, role, &early, again);
    }
    let Some(branches) = branches else { return diagnostic.help(help) };
    diagnostic = branching(diagnostic, role, &branches);
    if branches.needs_same {
        help = format!("tell `{role}` in both branches, as by `{other_label}`");
    }
    if branches.is_told {
        help = format!(
            "give `{label}` another label in one of these branches: `{role}` gets it in both"
        );
    }
    if branches.equal.is_empty() {
        return diagnostic.help(help);
    }
    let differ = "begin the branches with different messages";
    equal_beginning(diagnostic, &branches.equal).help(format!("{differ}, or tell `{role}` in each"))
}

/// Adds the place of the message that overtakes. Also returns the help.
fn overtaking(
    mut diagnostic: Diagnostic,
    role: &str,
    early: &Early,
    again: bool,
) -> (Diagnostic, String) {
    let round = if again { ", in a later round" } else { "" };
    if early.span != diagnostic.primary {
        diagnostic = diagnostic.with(early.span, format!("and this can overtake it{round}"));
    } else if again {
        diagnostic.label += ": in one of them it is of a later round";
    }
    let help = if early.by_label {
        format!("give the messages to `{role}` other labels in one of the branches")
    } else {
        let sender = &early.sender;
        format!("let `{sender}` tell `{role}` first in both branches")
    };
    (diagnostic, help)
}

/// Adds that the protocol is right with a `continue` behind the last message of a branch.
pub(crate) fn without_continue(mut error: Diagnostic, variable: &Name, last: Span) -> Diagnostic {
    let help = error.help.take().unwrap_or_default();
    // The second half of the help does not fit.
    let otherwise = help.split(", ").next().unwrap_or_default();
    let label = format!("the branch ends here, without `continue {variable};`");
    error.with(last, label).help(format!("add `continue {variable};` there, or {otherwise}"))
}

/// `limit` is the setting that is met, and `value` its value.
pub(crate) fn projection_too_large(
    role: &str,
    declared: Span,
    (limit, value): (&'static str, usize),
) -> Diagnostic {
    let message = format!("projecting onto `{role}` meets the limit {value} of `{limit}`");
    let label = "too large to be projected";
    let advice = match limit {
        "local_transitions" => {
            "let fewer roles interrupt the block, or give it fewer parts".to_owned()
        }
        _ => format!("tell `{role}` of choices earlier"),
    };
    Diagnostic::new(Code::ProjectionTooLarge, message, declared, label)
        .help(format!("{advice}, or raise the limit `{limit}`"))
        .limit(limit, value)
}

/// The projected roles are not safe together; `run` has the steps of a shortest unsafe run.
pub(crate) fn unsafe_together(
    (at, what): (Span, &str),
    protocol: &Name,
    why: &str,
    run: &[String],
) -> Diagnostic {
    const MOST_STEPS: usize = 12;
    let message = format!("the roles of `{protocol}` are not safe together");
    let because = format!("because of {what}");
    let diagnostic = Diagnostic::new(Code::UnsafeTogether, message, at, because);
    let most = run.len().saturating_sub(MOST_STEPS);
    let mut steps: Vec<String> = run[most..].iter().map(|step| format!("\n  {step}")).collect();
    if most > 0 {
        steps.insert(0, format!("\n  ({most} more)"));
    }
    let note = if run.is_empty() {
        format!("at once, {why}")
    } else {
        format!("{why}, after{}", steps.concat())
    };
    diagnostic.note(note).help("let a role wait for an answer before it goes on")
}

/// `growth` is a queue that grows for ever, if that is why.
pub(crate) fn undecided_together(
    (at, what): (Span, &str),
    protocol: &Name,
    limit: Limit,
    growth: Option<&Growth>,
) -> Diagnostic {
    let message = format!("undecided whether the roles of `{protocol}` fit together");
    let label = format!("because of {what}, all runs are explored");
    // The longest one would not fit into 80 columns.
    let why = match limit {
        Limit::Configurations(_) => limit.to_string().replace(" (limit", "\n(limit"),
        _ => limit.to_string(),
    };
    let mut found = Diagnostic::new(Code::UndecidedTogether, message, at, label).note(why);
    let mut senders = "senders".to_owned();
    if let Some(Growth { queue, again, .. }) = growth {
        let steps = again.iter().map(|step| format!("\n  {}: {}", step.role, step.action));
        found = found.note(format!("{queue} can grow for ever, by{}", steps.collect::<String>()));
        if let Some(from) = &queue.from {
            senders = format!("`{from}`");
        }
    }
    let setting = limit.setting();
    found
        .help(format!("let {senders} wait for answers, or raise the limit `{setting}`"))
        .limit(setting, limit.value())
}

errors! {
    /// Two messages with one label in one state of a machine.
    shared_in_machine(block: Span, role: &str, action: &str) = SharedLabel at block,
        "`{role}` cannot tell two messages `{action}` apart", "one is in this block, the other here or in another branch"
        help "rename one of the messages: then its label says which one it is";

    no_such_role(role: &str, protocol: &Name, known: &[&str]) = NoSuchRole at protocol.span,
        "the protocol `{protocol}` has no role `{role}`", "declared here"
        suggest role, known;
}
