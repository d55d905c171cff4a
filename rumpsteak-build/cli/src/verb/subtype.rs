//! `subtype`: may one machine stand in for another?

use std::path::PathBuf;

use clap::Args;

use crate::{exit::Outcome, input::Reader, machines, report::Report, terminal::Terminal};

/// Asks whether SUB can take the place of SUP: asynchronous subtyping of two machines
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The machine that takes the place, in DOT; `-` is standard input
    sub: PathBuf,
    /// The machine whose place it takes
    sup: PathBuf,
    /// Which machine to take where a file holds several
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Compares the two machines.
///
/// # Errors
/// A file that cannot be read, or a machine that is no local type.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Report> {
    let mut reader = Reader::default();
    let role = arguments.role.as_deref();
    let sub = machines::pick(machines::read(&mut reader, &arguments.sub)?, role)?;
    let sup = machines::pick(machines::read(&mut reader, &arguments.sup)?, role)?;
    for machine in [&sub, &sup] {
        machine
            .fsm
            .check_directed()
            .map_err(|defect| machines::defect(machine, &defect))?;
    }
    terminal.print("");
    Ok(Outcome::Undecided)
}
