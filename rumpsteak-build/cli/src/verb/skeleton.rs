//! `skeleton`: processes to fill in.

use std::path::PathBuf;

use clap::Args;
use rumpsteak_build::command::{Notice, meant};

use super::generate;
use crate::options::Limits;
use crate::{Answer, Outcome, Reply, Terminal};

/// Prints a process to fill in for a role of a protocol, or a program with a process for each role
///
/// The process follows the session that is generated for the role. Each payload to send and each
/// choice to make is a `todo!()`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The Scribble file
    file: PathBuf,
    /// Only the process of this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Which protocol, if the file holds several
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    #[command(flatten)]
    limits: Limits,
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    let Arguments { file, role, protocol, limits } = arguments;
    let code = generate::code(file, protocol.as_deref(), &limits.build(None), terminal)?;
    let Some(code) = code else { return Ok(Answer::new(Outcome::Fails)) };
    let (processes, program) = code.skeleton();
    match role {
        None => terminal.say(&program),
        Some(role) => {
            let names: Vec<&str> = processes.iter().map(|(name, _)| name.as_str()).collect();
            let plain = |name: &str| name.replace('_', "").to_lowercase();
            let position = names.iter().position(|name| plain(name) == plain(role));
            let position = position.ok_or_else(|| {
                let message = format!("`{}` has no role `{role}` with a process", code.protocol);
                Notice::error(message).help(meant(role, &names, "the roles are"))
            })?;
            terminal.say(&processes[position].1);
        }
    }
    Ok(Answer::new(Outcome::Holds))
}
