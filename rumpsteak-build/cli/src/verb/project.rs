//! `project`: the machine of each role of a protocol, or of a session of a package.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rumpsteak_build::command::{Notice, either, meant};
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Fsm, Role};
use rumpsteak_scribble::{Diagnostic, Protocol};
use serde_json::{Value, json};

use crate::verb::check::package::package_folder;
use crate::verb::check::settings;
use crate::{Answer, Outcome, Reader, Reply, Scribble, Terminal, json, modules};

/// Prints the machine of each role of a protocol, or of a session of a package
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

/// Projects the protocol onto one role or all.
///
/// Machines are printed only if all roles can be projected: a part of a system is another system.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    terminal.is_json = arguments.format == Format::Json;
    let Scribble { protocol, reading } = &arguments.scribble;
    if let Some(session) = &arguments.session {
        let machines = session_of_package(session, arguments)?;
        return reply(object(None, &machines, vec![]), &machines, arguments, terminal);
    }
    let file = arguments.file.clone().unwrap_or_default();
    let module = modules::read(&mut Reader::default(), &file, reading)?;
    module.warn(terminal);
    let refuse = |protocol, diagnostics: &[Diagnostic], terminal: &mut Terminal| {
        let outcome = module.complain(diagnostics, terminal);
        let reports = module.reports(diagnostics).map(|report| json::notice(&report)).collect();
        Ok(Answer { outcome, object: object(protocol, &[], reports) })
    };
    if !module.contents.diagnostics.is_empty() {
        return refuse(None, &module.contents.diagnostics, terminal);
    }
    let protocol = module.pick(protocol.as_deref())?;
    let role = arguments.role.as_deref().map(Role::from);
    let projected = match &role {
        Some(role) => protocol.project(role).map(|projection| vec![projection]),
        None => protocol.project_all(),
    };
    let projections = match projected {
        Ok(projections) => projections,
        Err(found) => return refuse(Some(protocol), &found, terminal),
    };
    let machines: Vec<Fsm> = projections.into_iter().map(|of| of.fsm).collect();
    reply(object(Some(protocol), &machines, vec![]), &machines, arguments, terminal)
}

fn session_of_package(wanted: &str, arguments: &Arguments) -> Result<Vec<Fsm>, Notice> {
    let folder = package_folder()?;
    let (configuration, _) = settings::read(&folder);
    let sessions = configuration.sessions(&folder, &arguments.scribble.reading.limits.build(None));
    let path = |of: &[String; 2]| of.join("::");
    let found = sessions.iter().filter(|(of, _)| of[1] == wanted || path(of) == wanted);
    match found.collect::<Vec<_>>()[..] {
        [] => {
            let is_short = !wanted.contains("::");
            let name = |of: &[String; 2]| if is_short { of[1].clone() } else { path(of) };
            let help = meant(wanted, sessions.iter().map(|(of, _)| name(of)), "the sessions are");
            Err(Notice::error(format!("the package has no session `{wanted}`")).help(help))
        }
        [([module, _], fsm)] => {
            let mut machines = vec![fsm.clone()];
            // CFSM text numbers the participants, so the peers' sessions follow.
            let peers = sessions.iter().filter(|([of, _], _)| of == module);
            for (_, peer) in peers.filter(|_| arguments.format == Format::Cfsm) {
                if machines.iter().all(|machine| machine.role() != peer.role()) {
                    machines.push(peer.clone());
                }
            }
            Ok(machines)
        }
        ref several => {
            let which = either(several.iter().map(|(of, _)| path(of)));
            let notice = Notice::error(format!("the package has several sessions `{wanted}`"));
            Err(notice.help(format!("say which one: {which}")))
        }
    }
}

fn reply(object: Value, machines: &[Fsm], arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    let reply = Answer { outcome: Outcome::Holds, object };
    let form = match arguments.format {
        Format::Cfsm => Form::Cfsm,
        Format::Dot => Form::Dot,
        Format::Json => return Ok(reply),
        Format::Local => Form::Local,
        Format::Mermaid => Form::Mermaid,
        Format::Svg => Form::Svg,
    };
    let text = text::print(form, machines).map_err(|unsayable| {
        let notice = Notice::of_error(&unsayable);
        match arguments.role {
            // CFSM text numbers the participants, so a machine makes sense only beside its peers.
            Some(_) if form == Form::Cfsm => notice.help("leave out `--role`"),
            _ => notice,
        }
    })?;
    terminal.say(&text);
    Ok(reply)
}

fn object(protocol: Option<&Protocol>, machines: &[Fsm], diagnostics: Vec<Value>) -> Value {
    json!({
        "protocol": protocol.map(|protocol| protocol.name().as_str()),
        "machines": machines.iter().map(json::machine).collect::<Vec<_>>(),
        "diagnostics": diagnostics,
    })
}
