//! The verbs, one module each.

mod bounded;
mod check;
mod compat;
mod completions;
mod explain;
mod generate;
mod init;
mod kmc;
mod optimise;
mod project;
mod skeleton;
mod subtype;

use clap::{Command, Subcommand};

use crate::{Answer, Outcome, Terminal, json};

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
    Skeleton(skeleton::Arguments),
    Subtype(subtype::Arguments),
}

/// Runs a verb of the command that `command` makes. An error is reported here.
pub(crate) fn run(verb: &Verb, command: fn() -> Command, terminal: &mut Terminal) -> Outcome {
    let reply = match verb {
        Verb::Check(arguments) => check::run(arguments, terminal),
        Verb::Compat(arguments) => compat::run(arguments, terminal),
        Verb::Completions(arguments) => completions::run(arguments, command(), terminal),
        Verb::Explain(arguments) => explain::run(arguments, terminal),
        Verb::Generate(arguments) => generate::run(arguments, terminal),
        Verb::Init(arguments) => init::run(arguments, terminal),
        Verb::Kmc(arguments) => kmc::run(arguments, terminal),
        Verb::Man(arguments) => completions::manual(arguments, command(), terminal),
        Verb::Optimise(arguments) => optimise::run(arguments, terminal),
        Verb::Project(arguments) => project::run(arguments, terminal),
        Verb::Skeleton(arguments) => skeleton::run(arguments, terminal),
        Verb::Subtype(arguments) => subtype::run(arguments, terminal),
    };
    let Answer { outcome, object } = reply.unwrap_or_else(|report| {
        terminal.report(&report);
        Answer::because(Outcome::BadInput, &report.message).with("error", json::notice(&report))
    });
    if terminal.is_json {
        terminal.print(&format!("{object:#}\n"));
    }
    outcome
}
