//! Verifies session types against Scribble protocols from a build script.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), rumpsteak_build::Report> {
//!     rumpsteak_build::verify("protocols")?;
//!     Ok(())
//! }
//! ```
//!
//! The build script reads the protocols in the folder, and the modules with `#[protocol(Name)]` or
//! `#[closed_system]` in the package's Rust files. For each session it proves that the role may
//! behave so: whatever the order of its sends and receives, no deadlock, no lost and no unexpected
//! message can come of it. The macro on the module takes the verdict, and raises an error at the
//! offending token, or lets the sessions run.
//!
//! A build script that fails takes all other diagnostics from the editor. So this one fails only
//! for errors that have no place in Rust source, such as a folder that does not exist. All others
//! become errors of rustc.
//!
//! # How it works
//!
//! A package goes through the rooms in this order, and each knows only those before it:
//!
//! ```text
//! source      the modules in the package's Rust files
//! protocols   the .scr files
//! scope       the items of a module by their names, and its sessions as machines
//! codegen     the items that a module does not write
//! judge       subtyping, closed systems, capacities, starvation: faults, as values
//! report      the words
//! findings    a module, from its tokens to its verdict
//! verdict     the files that the macros read
//! ```

mod analysis;
mod codegen;
#[doc(hidden)]
pub mod command;
mod configuration;
#[doc(hidden)]
pub mod expansion;
mod fault;
mod findings;
mod gravity;
mod judge;
mod limits;
mod manifest;
mod named_text;
mod package;
mod package_root;
mod protocols;
mod report;
mod scope;
mod settings;
mod source;
mod text_file;
mod verdict;
mod warnings;
mod words;

use std::path::PathBuf;

pub use analysis::Summary;
pub use configuration::Configuration;
pub use limits::Limits;
pub use report::build_report::Report;

/// Verifies the package whose build script this is against the protocols at `path`, a `.scr` file
/// or a folder, relative to the package. Short for `configure().protocols(path).verify()`: several
/// folders go into one such call.
///
/// # Errors
///
/// Those of [`Configuration::verify`].
pub fn verify(path: impl Into<PathBuf>) -> Result<Summary, Report> {
    configure().protocols(path).verify()
}

/// Begins a [`Configuration`]: what to verify.
pub fn configure() -> Configuration {
    Configuration::default()
}

/// The examples of README.md run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
