//! `completions` and `man`: the completions of a shell, and the manual page.

use clap::{Args, Command};
use clap_complete::Shell;
use rumpsteak_build::command::{Notice, meant};

use crate::{Answer, Outcome, Reply, Terminal};

/// Prints a script for a shell that completes `cargo-rumpsteak`
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: Command, terminal: &mut Terminal) -> Reply {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "cargo-rumpsteak", &mut text);
    // In some places, the script for bash mistakes the `-` in the name for the blank before a verb.
    let text = String::from_utf8_lossy(&text);
    terminal.say(&text.replace("cargo__subcmd__rumpsteak", "cargo__rumpsteak"));
    Ok(Answer::new(Outcome::Holds))
}

/// Prints the manual page of the command, or of a verb
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The verb
    verb: Option<String>,
}

pub(crate) fn manual(arguments: &Manual, mut command: Command, terminal: &mut Terminal) -> Reply {
    command.build();
    let page = match &arguments.verb {
        None => command,
        Some(verb) => command.find_subcommand(verb).cloned().ok_or_else(|| {
            let verbs = command.get_subcommands().map(Command::get_name);
            let help = meant(verb, verbs, "the verbs are");
            Notice::error(format!("there is no verb `{verb}`")).help(help)
        })?,
    };
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(page).render(&mut text);
    terminal.say(&String::from_utf8_lossy(&text));
    Ok(Answer::new(Outcome::Holds))
}
