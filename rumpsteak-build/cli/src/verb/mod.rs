//! The verbs, one module each.

mod check;
mod compat;
mod completions;
mod explain;
mod generate;
mod init;
mod kmc;
mod optimise;
mod project;
mod subtype;

use clap::{Command, Subcommand};

use crate::json::{self, Answer};
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::terminal::Terminal;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Check(check::Arguments),
    Compat(compat::Arguments),
    Completions(completions::Arguments),
    Explain(explain::Arguments),
    Generate(generate::Arguments),
    Init(init::Arguments),
    Kmc(kmc::Arguments),
    Man(completions::Manual),
    Optimise(optimise::Arguments),
    Project(project::Arguments),
    Subtype(subtype::Arguments),
}

/// Runs a verb of the command that `command` makes. An error is reported here.
pub(crate) fn run(verb: &Verb, command: fn() -> Command, terminal: &mut Terminal) -> Outcome {
    let (is_json, reply) = match verb {
        Verb::Check(arguments) => match check::run(arguments, terminal) {
            // It was written as it was found.
            Ok(outcome) => return outcome,
            Err(report) => (arguments.form() == check::Form::Json, Err(report)),
        },
        Verb::Compat(arguments) => (arguments.output.json(), compat::run(arguments, terminal)),
        Verb::Completions(arguments) => (false, Ok(completions::run(arguments, command()))),
        Verb::Explain(arguments) => (arguments.output.json(), explain::run(arguments)),
        Verb::Generate(arguments) => (false, generate::run(arguments)),
        Verb::Init(arguments) => (false, init::run(arguments)),
        Verb::Kmc(arguments) => (arguments.output.json(), kmc::run(arguments, terminal)),
        Verb::Man(arguments) => (false, completions::manual(arguments, command())),
        Verb::Optimise(arguments) => (arguments.json(), optimise::run(arguments, terminal)),
        Verb::Project(arguments) => (arguments.json(), project::run(arguments, terminal)),
        Verb::Subtype(arguments) => (arguments.output.json(), subtype::run(arguments, terminal)),
    };
    let reply = reply.unwrap_or_else(|report| {
        terminal.report(&report);
        let mut object = Answer::because(&report.message).object(Outcome::BadInput);
        object["error"] = json::notice(&report);
        Reply::object(Outcome::BadInput, object)
    });
    reply.print(is_json, terminal)
}
