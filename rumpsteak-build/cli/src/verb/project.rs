//! `project`: what each role of a protocol does.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rumpsteak_build::command::{Notice, meant};
use rumpsteak_fsm::Fsm;
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_scribble::{Diagnostic, Protocol};
use serde_json::{Value, json};

use crate::input::Reader;
use crate::options::Scribble;
use crate::outcome::Outcome;
use crate::reply::{Reply, Words};
use crate::terminal::Terminal;
use crate::verb::check::package::package_folder;
use crate::verb::check::settings;
use crate::{json, modules};

/// Prints what each role of a protocol does: its machine
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The Scribble file; `-` is standard input
    #[arg(required_unless_present = "session")]
    file: Option<PathBuf>,
    /// Only this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// The machine of this session of the package in this folder, generated or by hand: its name,
    /// or with its module, `orders::ShopSession`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["file", "role"])]
    session: Option<String>,
    #[command(flatten)]
    scribble: Scribble,
    /// How to print the machines
    #[arg(long, value_enum, default_value = "dot", value_name = "FORM")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Graphviz: one digraph for each role
    Dot,
    /// Local types: one line for each role
    Local,
    /// Communicating machines with numbered participants
    Cfsm,
    /// A Mermaid state diagram
    Mermaid,
    /// A picture
    Svg,
    /// One JSON object
    Json,
}

impl Arguments {
    /// Whether standard output is to be one JSON object.
    pub(crate) fn json(&self) -> bool {
        self.format == Format::Json
    }

    fn form(&self) -> Option<Form> {
        match self.format {
            Format::Cfsm => Some(Form::Cfsm),
            Format::Dot => Some(Form::Dot),
            Format::Json => None,
            Format::Local => Some(Form::Local),
            Format::Mermaid => Some(Form::Mermaid),
            Format::Svg => Some(Form::Svg),
        }
    }
}

/// Projects the protocol onto one role or all.
///
/// Machines are printed only if all of them can be: a system without one of its roles is another
/// system.
///
/// # Errors
/// A file that cannot be read; a protocol or role that is not in it; a form that cannot say it.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Reply, Notice> {
    let Scribble { import_path, limits, .. } = &arguments.scribble;
    if let Some(session) = &arguments.session {
        return session_of_package(session, arguments);
    }
    let file = arguments.file.clone().unwrap_or_default();
    let module = modules::read(&mut Reader::default(), &file, import_path, limits)?;
    module.warn(terminal);
    let refuse = |protocol, diagnostics: &[Diagnostic], terminal: &mut Terminal| {
        let outcome = module.complain(diagnostics, terminal);
        let reports = module.reports(diagnostics).map(|report| json::notice(&report)).collect();
        Ok(Reply::object(outcome, object(protocol, &[], reports)))
    };
    if !module.contents.diagnostics.is_empty() {
        return refuse(None, &module.contents.diagnostics, terminal);
    }
    let protocol = module.pick(arguments.scribble.protocol.as_deref())?;

    let roles = match &arguments.role {
        Some(role) => vec![role.as_str().into()],
        None => protocol.roles().to_vec(),
    };
    let mut machines = vec![];
    let mut diagnostics = vec![];
    for role in &roles {
        match protocol.project(role) {
            Ok(projection) => machines.push(projection.fsm),
            Err(found) => diagnostics.extend(found),
        }
    }
    if !diagnostics.is_empty() {
        return refuse(Some(protocol), &diagnostics, terminal);
    }

    let reply = Reply::object(Outcome::Holds, object(Some(protocol), &machines, vec![]));
    with_text(reply, &machines, arguments)
}

/// Prints the machine of a session of the package in the current folder.
fn session_of_package(name: &str, arguments: &Arguments) -> Result<Reply, Notice> {
    let folder = package_folder()?;
    let (configuration, _) = settings::read(&folder);
    let limits = arguments.scribble.limits.build(None);
    let sessions = configuration.sessions(&folder, &limits);
    let is_it = |path: &str| path == name || path.rsplit("::").next() == Some(name);
    let found: Vec<_> = sessions.iter().filter(|session| is_it(&session.path)).collect();
    let [session] = found[..] else {
        let known = if found.is_empty() { sessions.iter().collect() } else { found.clone() };
        let known: Vec<&str> = known.iter().map(|session| session.path.as_str()).collect();
        let message = match found.len() {
            0 => format!("the package has no session `{name}`"),
            _ => format!("the package has several sessions `{name}`"),
        };
        return Err(Notice::error(message).help(meant(name, &known, "the sessions are")));
    };
    let machines = [session.fsm.clone()];
    let reply = Reply::object(Outcome::Holds, object(None, &machines, vec![]));
    with_text(reply, &machines, arguments)
}

/// Adds the machines as a text, unless the answer is to be one JSON object.
fn with_text(mut reply: Reply, machines: &[Fsm], arguments: &Arguments) -> Result<Reply, Notice> {
    if let Some(form) = arguments.form() {
        let text = text::print(form, machines).map_err(|unsayable| {
            let notice = Notice::of_error(&unsayable);
            match arguments.role {
                // Participants are numbers there, so a machine makes sense beside its peers only.
                Some(_) if form == Form::Cfsm => notice.help("leave out `--role`"),
                _ => notice,
            }
        })?;
        reply.words.push(Words::Lines(text));
    }
    Ok(reply)
}

fn object(protocol: Option<&Protocol>, machines: &[Fsm], diagnostics: Vec<Value>) -> Value {
    json!({
        "protocol": protocol.map(|protocol| protocol.name().as_str()),
        "machines": machines.iter().map(json::machine).collect::<Vec<_>>(),
        "diagnostics": diagnostics,
    })
}
