//! Options that several verbs have.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rumpsteak_fsm::Limit;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// How to print the answer.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// How to print the answer
    #[arg(long, value_enum, default_value = "text", value_name = "FORM")]
    format: Format,
}

impl Output {
    /// Whether standard output is to be one JSON object.
    pub(crate) fn json(&self) -> bool {
        self.format == Format::Json
    }
}

/// How to read Scribble files.
#[derive(Debug, Args)]
pub(crate) struct Scribble {
    /// Which protocol, where a Scribble file holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,
    /// Look for imported modules below DIR: `shop.Base` is `shop/Base.scr`
    #[arg(long, value_name = "DIR")]
    pub(crate) import_path: Vec<PathBuf>,
}

/// The advice to raise a limit, by the name of its option.
pub(crate) fn raise(limit: Limit) -> String {
    let option = match limit.setting() {
        "anticipation" => "bound",
        setting => setting,
    };
    format!("raise the limit with `--{option}`")
}
