//! The options that several verbs share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rumpsteak_fsm::Limit;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Output {
    /// How to print the answer
    #[arg(long, value_enum, default_value = "text", value_name = "FORM")]
    format: Format,
}

impl Output {
    pub(crate) fn json(&self) -> bool {
        self.format == Format::Json
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Liveness {
    /// Whatever the roles choose
    EveryRun,
    /// If choices are fair
    Fair,
}

/// The options for one protocol of a Scribble file.
#[derive(Debug, Args)]
pub(crate) struct Scribble {
    /// Which protocol, if a Scribble file holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The options for reading Scribble files.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// Look for imported modules below DIR: `shop.Base` is `shop/Base.scr`
    #[arg(long, value_name = "DIR")]
    pub(crate) import_path: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// The limits of a search. Each option has the name of a limit in the attribute of a module.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Limits {
    /// Explore at most N configurations of the roles and their queues [default: 100000, and 4000000
    /// for `--capacity`]
    #[arg(long, value_name = "N")]
    pub(crate) configurations: Option<usize>,
    /// Explore queues of at most N messages, if queues grow for ever [default: 64]
    #[arg(long, value_name = "N")]
    queue: Option<usize>,
    /// Let the machine of one role have at most N transitions before equal states are merged, in a
    /// Scribble protocol with `par` or `interruptible` [default: 25000]
    #[arg(long, value_name = "N")]
    local_transitions: Option<usize>,
}

impl Limits {
    pub(crate) fn verifier(&self) -> rumpsteak_fsm::Limits {
        let default = rumpsteak_fsm::Limits::default();
        let configurations = self.configurations.unwrap_or(default.configurations);
        default.configurations(configurations).queue(self.queue.unwrap_or(default.queue))
    }

    /// The limits of modules that set none themselves.
    pub(crate) fn build(&self, generated_lines: Option<usize>) -> rumpsteak_build::Limits {
        let mut limits = rumpsteak_build::Limits::default();
        let scribble = &mut limits.scribble;
        scribble.verifier = self.verifier();
        scribble.local_transitions = self.local_transitions.unwrap_or(scribble.local_transitions);
        limits.generated_lines = generated_lines.unwrap_or(limits.generated_lines);
        limits
    }
}

/// Parses a number that is at least 1.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("the least number is 1".to_owned()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

/// The advice to raise a limit, by the name of its option.
pub(crate) fn raise(limit: Limit) -> String {
    let setting = limit.setting();
    let option = if setting == "anticipation" { "bound" } else { setting };
    format!("raise the limit with `--{option}`")
}
