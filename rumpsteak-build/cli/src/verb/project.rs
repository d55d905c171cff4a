//! `project`: what each role of a protocol does.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rumpsteak_fsm::{
    Fsm,
    text::{self, Form},
};
use rumpsteak_scribble::{Diagnostic, Protocol};
use serde_json::{Value, json};

use crate::{
    exit::Outcome,
    input::Reader,
    json,
    machines::{quoted_list, split_way_out},
    modules::{self, Module},
    report::{Report, similar},
    terminal::Terminal,
};

/// Prints what each role of a protocol does: its machine
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The Scribble file; `-` is standard input
    file: PathBuf,
    /// Which protocol, where the file holds several
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// Only this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Look for imported modules below DIR: `shop.Base` is `shop/Base.scr`
    #[arg(long, value_name = "DIR")]
    import_path: Vec<PathBuf>,
    /// How to print the machines
    #[arg(long, value_enum, default_value = "dot", value_name = "FORM")]
    format: Format,
    /// Print one JSON object, as `--format json` does
    #[arg(long, conflicts_with = "format")]
    json: bool,
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
    /// One JSON object
    Json,
}

impl Arguments {
    /// Whether standard output is to be one JSON object.
    pub(crate) fn json(&self) -> bool {
        self.json || self.format == Format::Json
    }

    fn form(&self) -> Option<Form> {
        match self.format {
            _ if self.json => None,
            Format::Cfsm => Some(Form::Cfsm),
            Format::Dot => Some(Form::Dot),
            Format::Json => None,
            Format::Local => Some(Form::Local),
            Format::Mermaid => Some(Form::Mermaid),
        }
    }
}

/// Projects the protocol onto one role or all.
///
/// Machines are printed only if all of them can be: a system without one of its roles is another system.
///
/// # Errors
/// A file that cannot be read; a protocol or role that is not in it; a form that cannot say it.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Report> {
    let module = modules::read(
        &mut Reader::default(),
        &arguments.file,
        &arguments.import_path,
    )?;
    if !module.diagnostics.is_empty() {
        return Ok(refuse(
            arguments,
            terminal,
            &module,
            None,
            &module.diagnostics,
        ));
    }
    let protocol = pick(&module, arguments.protocol.as_deref())?;

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
        return Ok(refuse(
            arguments,
            terminal,
            &module,
            Some(protocol),
            &diagnostics,
        ));
    }

    let text = match arguments.form() {
        Some(form) => text::print(form, &machines).map_err(|unsayable| {
            let text = unsayable.to_string();
            let (message, way_out) = split_way_out(&text);
            match arguments.role {
                // Participants are numbers there, so a machine makes sense beside its peers only.
                Some(_) if form == Form::Cfsm => Report::error(message).help("leave out `--role`"),
                _ => Report::error(message).maybe_help(way_out),
            }
        })?,
        None => json::text(&object(Some(protocol), &machines, vec![])),
    };
    terminal.print(&text);
    Ok(Outcome::Holds)
}

fn object(protocol: Option<&Protocol>, machines: &[Fsm], diagnostics: Vec<Value>) -> Value {
    json!({
        "protocol": protocol.map(|protocol| protocol.name().as_str()),
        "machines": machines.iter().map(json::machine).collect::<Vec<_>>(),
        "diagnostics": diagnostics,
    })
}

/// Reports what is wrong.
fn refuse(
    arguments: &Arguments,
    terminal: &mut Terminal,
    module: &Module,
    protocol: Option<&Protocol>,
    diagnostics: &[Diagnostic],
) -> Outcome {
    let reports: Vec<Report> = module.reports(diagnostics).collect();
    for report in module.unreadable.iter().chain(&reports) {
        terminal.report(report);
    }
    if arguments.json() {
        let reports = reports.iter().map(Report::to_json).collect();
        terminal.print(&json::text(&object(protocol, &[], reports)));
    }
    modules::outcome(diagnostics)
}

/// The protocol of this name, or the only one.
pub(super) fn pick<'a>(module: &'a Module, name: Option<&str>) -> Result<&'a Protocol, Report> {
    let names = || {
        module
            .protocols
            .iter()
            .map(|protocol| protocol.name().as_str())
    };
    let listed = || quoted_list(names());
    let file = module.name();
    match (name, module.protocols.as_slice()) {
        (None, [protocol]) => Ok(protocol),
        (None, []) => Err(Report::error(format!(
            "`{file}` holds no protocol that can be projected"
        ))
        .help("`aux` protocols and those with parameters are projected where others call them")),
        (None, _) => Err(Report::error(format!("`{file}` holds several protocols"))
            .help(format!("say which one with `--protocol`: {}", listed()))),
        (Some(name), protocols) => {
            let found = protocols
                .iter()
                .find(|protocol| protocol.name().as_str() == name);
            found.ok_or_else(|| {
                let report = Report::error(format!("`{file}` holds no protocol `{name}`"));
                match similar(name, names()) {
                    Some(other) => report.help(format!("did you mean `{other}`?")),
                    None if protocols.is_empty() => report,
                    None => report.help(format!("it holds {}", listed())),
                }
            })
        }
    }
}
