//! Reading machines from files.

use std::{ops::Range, path::Path, rc::Rc};

use rumpsteak_fsm::{
    Defect, Fsm, Role, TransitionId,
    text::{self, Form},
};

use crate::{
    input::{Reader, Source},
    report::{Report, similar},
};

/// A machine, and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The machine.
    pub(crate) fsm: Fsm,
    /// The file that it is in.
    pub(crate) source: Rc<Source>,
    /// Where each transition was written, by [`TransitionId::index`].
    actions: Vec<Range<usize>>,
}

impl Machine {
    /// Where a transition was written.
    pub(crate) fn place(&self, transition: TransitionId) -> Range<usize> {
        self.actions
            .get(transition.index())
            .cloned()
            .unwrap_or_default()
    }
}

/// Reads all machines of a file, `-` being standard input; at least one.
///
/// # Errors
/// The file cannot be read or holds no machines.
pub(crate) fn read(reader: &mut Reader, path: &Path) -> Result<Vec<Machine>, Report> {
    let source = Rc::new(reader.read(
        path,
        "machines, such as `digraph k { 0 -> 1 [label=\"s!ready\"]; }`",
    )?);
    let form = Form::detect(&source.text);
    let machines = text::parse_named(&source.text, form).map_err(|error| {
        let (message, way_out) = split_way_out(&error.message);
        let report = Report::error(message)
            .mark(&source, error.span, "")
            .maybe_help(way_out);
        report.remark(format!(
            "it begins as {}, so it is read as that",
            described(form)
        ))
    })?;
    if machines.is_empty() {
        return Err(Report::error(format!("`{}` holds no machine", source.name))
            .help("write `digraph NAME { 0 -> 1 [label=\"peer!message\"]; }`"));
    }
    let machine = |named: text::Named| Machine {
        fsm: named.fsm,
        source: Rc::clone(&source),
        actions: named.actions,
    };
    Ok(machines.into_iter().map(machine).collect())
}

/// A form in words.
fn described(form: Form) -> &'static str {
    match form {
        Form::Binary => "a binary type",
        Form::Cfsm => "CFSM text",
        Form::Dot => "DOT",
        Form::Local => "local types",
        Form::Mermaid => "Mermaid",
        _ => "machines",
    }
}

/// The libraries' messages are `what is wrong; what to do`.
pub(crate) fn split_way_out(message: &str) -> (&str, Option<&str>) {
    match message.split_once("; ") {
        Some((message, way_out)) => (message, Some(way_out)),
        None => (message, None),
    }
}

/// Picks the machine of `role`, or the only one.
///
/// # Errors
/// There is no machine of this role, or there are several and no role to pick by.
pub(crate) fn pick(machines: Vec<Machine>, role: Option<&str>) -> Result<Machine, Report> {
    let roles: Vec<Role> = machines
        .iter()
        .map(|machine| machine.fsm.role().clone())
        .collect();
    let name = machines
        .first()
        .map(|machine| machine.source.name.clone())
        .unwrap_or_default();
    let listed = quoted_list(roles.iter().map(Role::as_str));

    let count = machines.len();
    let mut found = machines
        .into_iter()
        .filter(|machine| role.is_none_or(|role| machine.fsm.role().as_str() == role));
    match (found.next(), found.next(), role) {
        (Some(machine), None, _) => Ok(machine),
        (None, _, Some(role)) => {
            let report = Report::error(format!("`{name}` holds no machine of `{role}`"));
            Err(match similar(role, roles.iter().map(Role::as_str)) {
                Some(other) => report.help(format!("did you mean `{other}`?")),
                None => report.help(format!("it holds {listed}")),
            })
        }
        (_, _, Some(role)) => Err(Report::error(format!(
            "`{name}` holds several machines of `{role}`"
        ))
        .help("leave one of them in the file")),
        (_, _, None) => Err(Report::error(format!(
            "`{name}` holds {count} machines, and two are compared at a time"
        ))
        .help(format!("say which one with `--role`: {listed}"))),
    }
}

/// `a`, `b` and `c`, in back-quotes.
pub(crate) fn quoted_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// A machine that is no local type, at the place where it is not.
pub(crate) fn defect(machine: &Machine, defect: &Defect) -> Report {
    let text = defect.to_string();
    let (message, way_out) = split_way_out(&text);
    let mut report = Report::error(format!(
        "the machine of `{}`: {message}",
        machine.fsm.role()
    ));
    for (transition, label) in marks(&machine.fsm, defect) {
        report = report.mark(&machine.source, machine.place(transition), label);
    }
    report.maybe_help(way_out)
}

/// The transitions that a defect is about.
pub(crate) fn marks(machine: &Fsm, defect: &Defect) -> Vec<(TransitionId, &'static str)> {
    match defect {
        Defect::Mixed { send, receive, .. } => vec![(*send, "sends"), (*receive, "receives")],
        Defect::Nondeterministic {
            transitions: [first, second],
            ..
        } => vec![(*second, "the same again"), (*first, "first here")],
        Defect::SelfMessage { transition, .. } => vec![(*transition, "to itself")],
        Defect::Undirected { state, peers } => {
            let first = |peer: &Role| {
                let mut leaving = machine.transitions_from(*state);
                leaving.find(|transition| transition.action.peer == *peer)
            };
            let firsts = peers.iter().filter_map(first);
            firsts.map(|transition| (transition.id, "")).collect()
        }
        _ => vec![],
    }
}
