//! `completions` and `man`: what a shell and a manual know of the command.

use std::io;

use clap::{Args, Command};
use clap_complete::Shell;
use rumpsteak_build::command::{Notice, meant};

use crate::reply::Reply;

/// Prints what makes a shell complete `cargo-rumpsteak`
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: Command) -> Reply {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "cargo-rumpsteak", &mut text);
    // The script for bash takes the `-` of the name for the blank before a verb, in some places.
    let text = String::from_utf8_lossy(&text);
    Reply::text(text.replace("cargo__subcmd__rumpsteak", "cargo__rumpsteak"))
}

/// Prints the manual page of the command, or of a verb
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The verb
    verb: Option<String>,
}

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
    Ok(Reply::text(String::from_utf8_lossy(&text).into_owned()))
}
