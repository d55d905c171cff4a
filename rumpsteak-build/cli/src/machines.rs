//! Reading machines from files: machines as text, or the projections of a protocol.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rumpsteak_build::command::{NamedText, Notice, list, meant};
use rumpsteak_fsm::system::SystemError;
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Defect, Fsm, Role, Run, TransitionId};
use rumpsteak_scribble::{Projection, parse};

use crate::modules::{self, Module};
use crate::{Reader, Scribble, Terminal};

/// A machine, with its places in the source.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) fsm: Fsm,
    /// For a projection: [`Projection::in_any_order`].
    pub(crate) in_any_order: Option<Fsm>,
    /// The name of the file.
    pub(crate) file: String,
    /// The place of each transition in the source, by [`TransitionId::index`].
    places: Vec<Option<(Arc<NamedText>, Range<usize>)>>,
}

impl Machine {
    /// The machine of a role that a file does not have: it does nothing.
    pub(crate) fn idle(role: Role, file: String) -> Self {
        let mut builder = Fsm::builder(role);
        let only = builder.add_state();
        Self { fsm: builder.build(only), in_any_order: None, file, places: vec![] }
    }

    /// Marks the transitions that a defect is about.
    pub(crate) fn mark_defect(&self, notice: Notice, defect: &Defect) -> Notice {
        let marks = match defect {
            Defect::Mixed { send, receive, .. } => vec![(*send, "sends"), (*receive, "receives")],
            Defect::Nondeterministic { transitions: [first, second], .. } => {
                vec![(*second, "the same again"), (*first, "first here")]
            }
            Defect::SelfMessage { transition, .. } => vec![(*transition, "to itself")],
            Defect::Undirected { state, peers } => {
                let first = |peer: &Role| {
                    let mut leaving = self.fsm.transitions_from(*state);
                    leaving.find(|transition| transition.action.peer == *peer)
                };
                peers.iter().filter_map(first).map(|transition| (transition.id, "")).collect()
            }
            _ => vec![],
        };
        marks.into_iter().fold(notice, |notice, (id, label)| self.mark(notice, id, label))
    }

    pub(crate) fn mark(&self, notice: Notice, transition: TransitionId, label: &str) -> Notice {
        match self.places.get(transition.index()) {
            Some(Some((text, span))) => notice.mark(text, span.clone(), label),
            _ => notice,
        }
    }
}

/// Reads all machines of a file, or of standard input for `-`: at least one. The machines of a
/// Scribble file are the projections of its protocol.
pub(crate) fn read(
    reader: &mut Reader,
    path: &Path,
    scribble: &Scribble,
    terminal: &mut Terminal,
) -> Result<Vec<Machine>, Notice> {
    let source =
        reader.read(path, "machines, such as `digraph k { 0 -> 1 [label=\"s!ready\"]; }`")?;
    let form = Form::detect(&source.text);
    // A text of no other form is detected as types.
    let is_scribble = path.extension().is_some_and(|extension| extension == "scr")
        || matches!(form, Form::Binary | Form::Local)
            && !parse(&source.text).module.protocols.is_empty();
    if is_scribble {
        let module = modules::load(reader, source, path, &scribble.reading);
        let projected = module.projected(scribble.protocol.as_deref(), terminal)?;
        let (protocol, projections) =
            projected.map_err(|_| Notice::error(format!("`{}` has errors", module.name())))?;
        return Ok(of_projections(&module, protocol.judged(projections)));
    }
    let machines = text::parse_named(&source.text, form).map_err(|error| {
        Notice::of_error(&error.message)
            .mark(&source, error.span, "")
            .remark(format!("it begins as {form}, so it is read as that"))
    })?;
    if machines.is_empty() {
        return Err(Notice::error(format!("`{}` holds no machine", source.name))
            .help("write `digraph NAME { 0 -> 1 [label=\"peer!message\"]; }`"));
    }
    let machine = |named: text::Named| {
        let spans = named.actions.into_iter();
        Machine {
            fsm: named.fsm,
            in_any_order: None,
            file: source.name.clone(),
            places: spans.map(|span| Some((Arc::clone(&source), span))).collect(),
        }
    };
    Ok(machines.into_iter().map(machine).collect())
}

/// The machines of projections. The places of actions are the module's interactions.
pub(crate) fn of_projections(module: &Module, projections: Vec<Projection>) -> Vec<Machine> {
    let machine = |projection: Projection| {
        let places = projection.fsm.transitions().map(|transition| {
            // All of its interactions are the same to this role.
            let origin = projection.origins(transition.id).first()?;
            Some((Arc::clone(module.contents.text(origin.source())), origin.range()))
        });
        Machine {
            file: module.name().to_owned(),
            places: places.collect(),
            fsm: projection.fsm,
            in_any_order: projection.in_any_order,
        }
    };
    projections.into_iter().map(machine).collect()
}

/// Picks the machine of `role`, or the only one.
pub(crate) fn pick(machines: Vec<Machine>, role: Option<&str>) -> Result<Machine, Notice> {
    let name = machines.first().map(|machine| machine.file.clone()).unwrap_or_default();
    let roles: Vec<Role> = machines.iter().map(|machine| machine.fsm.role().clone()).collect();
    let is_meant = |machine: &Machine| role.is_none_or(|role| machine.fsm.role().as_str() == role);
    let mut found = machines.into_iter().filter(is_meant);
    let (message, help) = match (found.next(), found.next(), role) {
        (Some(machine), None, _) => return Ok(machine),
        (None, _, Some(role)) => {
            (format!("`{name}` holds no machine of `{role}`"), meant(role, &roles, "it holds"))
        }
        (_, _, Some(role)) => {
            let help = "leave one of them in the file".to_owned();
            (format!("`{name}` holds several machines of `{role}`"), help)
        }
        (_, _, None) => {
            let count = roles.len();
            let message =
                format!("`{name}` holds {count} machines, and two are compared at a time");
            (message, format!("say which one with `--role`: {}", list(roles)))
        }
    };
    Err(Notice::error(message).help(help))
}

pub(crate) fn mark(
    notice: Notice,
    machines: &[Machine],
    role: &Role,
    transition: TransitionId,
    label: &str,
) -> Notice {
    let own = machines.iter().filter(|machine| machine.fsm.role() == role);
    own.fold(notice, |notice, machine| machine.mark(notice, transition, label))
}

/// The error of machines that are not a system, at its place.
pub(crate) fn no_system(machines: &[Machine], error: &SystemError) -> Notice {
    let report = Notice::of_error(error);
    match error {
        SystemError::SelfMessage(role, by) => mark(report, machines, role, *by, "to itself"),
        SystemError::UnknownPeer { role, transition, .. } => {
            mark(report, machines, role, *transition, "to nobody")
        }
        _ => report,
    }
}

/// Marks the actions that roles wait for at the end of a run.
pub(crate) fn mark_waits(mut notice: Notice, machines: &[Machine], run: &Run) -> Notice {
    for wait in &run.waits {
        for (transition, action) in &wait.transitions {
            let label = format!("`{}` waits for `{action}`", wait.role);
            notice = mark(notice, machines, &wait.role, *transition, &label);
        }
    }
    notice
}
