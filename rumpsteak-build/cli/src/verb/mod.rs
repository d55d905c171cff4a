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

/// The subcommands.
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

impl Verb {
    /// Whether standard output is to be one JSON object.
    fn json(&self) -> bool {
        match self {
            Self::Check(arguments) => arguments.form() == check::Form::Json,
            Self::Compat(arguments) => arguments.output.json(),
            Self::Explain(arguments) => arguments.output.json(),
            Self::Completions(_) | Self::Generate(_) | Self::Init(_) | Self::Man(_) => false,
            Self::Kmc(arguments) => arguments.output.json(),
            Self::Optimise(arguments) => arguments.json(),
            Self::Project(arguments) => arguments.json(),
            Self::Subtype(arguments) => arguments.output.json(),
        }
    }
}

/// Runs a verb of the command that `command` makes. An error is reported here.
pub(crate) fn run(verb: &Verb, command: fn() -> Command, terminal: &mut Terminal) -> Outcome {
    let reply = match verb {
        Verb::Check(arguments) => check::run(arguments, terminal).map(Err),
        Verb::Compat(arguments) => compat::run(arguments, terminal).map(Ok),
        Verb::Completions(arguments) => Ok(Ok(completions::run(arguments, command()))),
        Verb::Explain(arguments) => explain::run(arguments).map(Ok),
        Verb::Generate(arguments) => generate::run(arguments, terminal).map(Err),
        Verb::Init(arguments) => init::run(arguments).map(Ok),
        Verb::Kmc(arguments) => kmc::run(arguments, terminal).map(Ok),
        Verb::Man(arguments) => completions::manual(arguments, command()).map(Ok),
        Verb::Optimise(arguments) => optimise::run(arguments, terminal).map(Ok),
        Verb::Project(arguments) => project::run(arguments, terminal).map(Ok),
        Verb::Subtype(arguments) => subtype::run(arguments, terminal).map(Ok),
    };
    match reply {
        Ok(Ok(reply)) => reply.print(verb.json(), terminal),
        // It was written as it was found.
        Ok(Err(outcome)) => outcome,
        Err(report) => {
            terminal.report(&report);
            let mut object = Answer::because(&report.message).object(Outcome::BadInput);
            object["error"] = json::notice(&report);
            Reply::object(Outcome::BadInput, object).print(verb.json(), terminal)
        }
    }
}
