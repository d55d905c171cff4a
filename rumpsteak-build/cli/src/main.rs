//! `cargo rumpsteak`: the checks of the build, as a command.
//!
//! ```text
//!   arguments ─▶ verb ─▶ library ─▶ terminal ─▶ exit status
//!                 │        │           │
//!                 │        │           └ answers on stdout, diagnostics on stderr
//!                 │        └ rumpsteak-fsm, rumpsteak-scribble, rumpsteak-build
//!                 └ one module each: parse arguments, call, print
//! ```
//!
//! The libraries decide, and most wording is theirs: see `rumpsteak_build::command`.

mod comparison;
mod input;
mod json;
mod liveness;
mod machines;
mod modules;
mod options;
mod outcome;
mod terminal;
mod verb;

use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory as _, Parser};

use self::input::Reader;
use self::options::{Liveness, Output, Reading, Scribble, positive, raise};
use self::outcome::{Answer, Outcome, Reply, status};
use self::terminal::Terminal;
use self::verb::Verb;

/// Checks, projects and compares communication protocols.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-rumpsteak",
    bin_name = "cargo rumpsteak",
    version,
    arg_required_else_help = true,
    after_help = "Exit status: 0 it holds, 1 it does not hold, 2 the input or the call is bad, 3 undecided \
                  within the bounds.\nA file named `-` is standard input."
)]
struct Arguments {
    /// Colours: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN",
        hide_default_value = true, hide_possible_values = true)]
    color: ColorChoice,

    #[command(subcommand)]
    verb: Verb,
}

fn main() -> ExitCode {
    // Cargo passes on the name: `cargo rumpsteak check` starts `cargo-rumpsteak rumpsteak check`.
    let words = std::env::args_os().enumerate();
    let words = words.filter(|(index, word)| *index != 1 || word != "rumpsteak");
    let arguments = Arguments::parse_from(words.map(|(_, word)| word));
    let mut terminal = Terminal::new(arguments.color);
    let outcome = verb::run(&arguments.verb, Arguments::command, &mut terminal);
    status(terminal.finish(outcome))
}
