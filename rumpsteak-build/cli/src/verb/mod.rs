//! The verbs, one module each.

mod check;
mod compat;
mod explain;
mod generate;
mod kmc;
mod optimise;
mod project;
mod subtype;

use clap::Subcommand;

use rumpsteak_build::command::Notice;

use crate::{json, outcome::Outcome, terminal::Terminal};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Check(check::Arguments),
    Compat(compat::Arguments),
    Explain(explain::Arguments),
    Generate(generate::Arguments),
    Kmc(kmc::Arguments),
    Optimise(optimise::Arguments),
    Project(project::Arguments),
    Subtype(subtype::Arguments),
}

/// Runs a verb. An error is reported here.
pub(crate) fn run(verb: &Verb, terminal: &mut Terminal) -> Outcome {
    let (result, json) = match verb {
        Verb::Check(arguments) => (
            check::run(arguments, terminal),
            arguments.form() == check::Form::Json,
        ),
        Verb::Compat(arguments) => (compat::run(arguments, terminal), arguments.output.json()),
        Verb::Explain(arguments) => (explain::run(arguments, terminal), arguments.output.json()),
        Verb::Generate(arguments) => (generate::run(arguments, terminal), false),
        Verb::Kmc(arguments) => (kmc::run(arguments, terminal), arguments.output.json()),
        Verb::Optimise(arguments) => (optimise::run(arguments, terminal), arguments.json()),
        Verb::Project(arguments) => (project::run(arguments, terminal), arguments.json()),
        Verb::Subtype(arguments) => (subtype::run(arguments, terminal), arguments.output.json()),
    };
    result.unwrap_or_else(|report: Notice| {
        terminal.report(&report);
        if json {
            terminal.print(&json::text(&json::bad_input(&report)));
        }
        Outcome::BadInput
    })
}
