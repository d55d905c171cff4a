//! The options of `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{Liveness, Reading};

/// Checks protocol files, or without files the package in this folder
#[derive(Debug, Args)]
#[command(after_help = include_str!("check.txt").trim_ascii_end())]
pub(crate) struct Arguments {
    /// Scribble files; `-` is standard input
    #[arg(value_name = "FILE.scr")]
    pub(super) files: Vec<PathBuf>,
    /// The protocols of the package, as its build script names them [default: protocols]
    #[arg(long, value_name = "PATH", conflicts_with = "files")]
    pub(super) protocols: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) reading: Reading,
    /// Let the Rust code of a protocol have at most N lines [default: 25000]
    #[arg(long, value_name = "N")]
    pub(super) generated_lines: Option<usize>,
    /// Which liveness the protocols must have [default: every-run, with a warning for an error]
    #[arg(long, value_enum, value_name = "WHICH", requires = "files")]
    pub(super) liveness: Option<Liveness>,
    /// How to print diagnostics and verdicts
    #[arg(long, value_enum, default_value = "text", value_name = "FORM")]
    pub(super) format: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people: verdicts on standard output, diagnostics on standard error
    Text,
    /// One JSON object at the end; diagnostics for people on standard error
    Json,
    /// One JSON object on each line, for each diagnostic and verdict
    JsonLines,
}
