//! `check`: is everything all right?

mod files;
mod package;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rumpsteak_fsm::Limits;

use crate::{exit::Outcome, report::Report, terminal::Terminal};

/// Checks protocol files, or without files the package in this folder
#[derive(Debug, Args)]
#[command(after_help = "\
With files: syntax, well-formedness, the projection onto each role, and that the projections are safe together.
Without files: what the build script does for the package in this folder, without building it.")]
pub(crate) struct Arguments {
    /// Scribble files; `-` is standard input
    #[arg(value_name = "FILE.scr")]
    files: Vec<PathBuf>,
    /// Look for imported modules below DIR: `shop.Base` is `shop/Base.scr`
    #[arg(long, value_name = "DIR")]
    import_path: Vec<PathBuf>,
    /// Where the package keeps its protocols, as its build script says it [default: protocols]
    #[arg(long, value_name = "PATH", conflicts_with = "files")]
    protocols: Vec<PathBuf>,
    /// Features of the package to check with, besides the default ones
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "files"
    )]
    features: Vec<String>,
    /// Check the package without its default features
    #[arg(long, conflicts_with = "files")]
    no_default_features: bool,
    /// Explore at most N configurations of the roles and their queues [default: 100000]
    #[arg(long, value_name = "N")]
    configurations: Option<usize>,
    /// Explore queues of at most N messages where queues grow for ever [default: 64]
    #[arg(long, value_name = "N")]
    queue: Option<usize>,
    /// Print one JSON object at the end
    #[arg(long)]
    pub(crate) json: bool,
    /// How to print diagnostics and verdicts: human, or json for one object on each line
    #[arg(
        long,
        value_enum,
        default_value = "human",
        value_name = "FORM",
        conflicts_with = "json",
        hide_possible_values = true
    )]
    message_format: MessageFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MessageFormat {
    Human,
    Json,
}

impl Arguments {
    /// These limits, unless the call says otherwise.
    fn limits(&self, limits: Limits) -> Limits {
        Limits {
            configurations: self.configurations.unwrap_or(limits.configurations),
            queue: self.queue.unwrap_or(limits.queue),
            ..limits
        }
    }
}

/// Checks the files, or the package if there are none.
///
/// # Errors
/// There is no package, or it cannot be read. What is wrong with one of several files is reported with the others.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Report> {
    match arguments.files.is_empty() {
        true => package::run(arguments, terminal),
        false => Ok(files::run(arguments, terminal)),
    }
}
