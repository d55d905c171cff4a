//! `completions` and `man`: what a shell and a manual know of the command.

use std::io;

use clap::{Args, Command};
use clap_complete::Shell;
use rumpsteak_build::command::{Notice, meant};
use serde_json::Value;

use crate::outcome::Outcome;
use crate::reply::{Reply, Words};

/// The file of the command, which shells complete.
const FILE: &str = "cargo-rumpsteak";

/// Prints what makes a shell complete `cargo-rumpsteak`
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: Command) -> Reply {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, FILE, &mut text);
    // The script for bash takes the `-` of the name for the blank before a verb, in some places.
    let text = String::from_utf8_lossy(&text);
    reply(text.replace("cargo__subcmd__rumpsteak", "cargo__rumpsteak"))
}

/// Prints the manual page of the command, or of a verb
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The verb
    verb: Option<String>,
}

/// The manual page.
///
/// # Errors
/// There is no such verb.
pub(crate) fn manual(arguments: &Manual, mut command: Command) -> Result<Reply, Notice> {
    command.build();
    let page = match &arguments.verb {
        None => command,
        Some(verb) => command.find_subcommand(verb).cloned().ok_or_else(|| {
            let verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let help = meant(verb, &verbs, "the verbs are");
            Notice::error(format!("there is no verb `{verb}`")).help(help)
        })?,
    };
    let mut text = Vec::new();
    let unwritable = |error: io::Error| Notice::error(format!("cannot write the page: {error}"));
    clap_mangen::Man::new(page).render(&mut text).map_err(unwritable)?;
    Ok(reply(String::from_utf8_lossy(&text).into_owned()))
}

fn reply(text: String) -> Reply {
    Reply { outcome: Outcome::Holds, words: vec![Words::Lines(text)], object: Value::Null }
}
