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
//! The build script reads the protocols in the folder and the `#[session]` items of all targets of
//! the package. For each `#[session(K)]` it proves that the role may behave so: whatever the order
//! of its sends and receives, no deadlock, no lost and no unexpected message can come of it. Its
//! answers go to the macros of `rumpsteak-runtime`, which raise an error at the offending token, or
//! let the session run.
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
//! source      what the Rust source says: targets, cfg, items, modules, names
//! protocols   what the .scr files say
//! codegen     the Rust code of the protocols that protocol!(…) includes
//! link        roles ↔ roles of a protocol or of a closed system, labels ↔ messages
//! sessions    an alias with its names resolved, as a machine
//! judge       subtyping, closed systems, capacities, starvation: faults, as values
//! outcome     from faults to the entries of the verdict file
//! report      the words
//! ```
//!
//! # What it does not see
//!
//! The source is read as it is written. Items that macros make, items inside functions and names of
//! other packages are not seen; a session that needs one is refused by the `#[session]` macro,
//! never accepted. [`Configuration::sources`] adds files outside of the package's targets.

mod analysis;
mod codegen;
#[doc(hidden)]
pub mod command;
mod configuration;
mod fault;
mod gravity;
mod judge;
mod limits;
mod link;
mod named_text;
mod outcome;
mod protocols;
mod report;
mod sessions;
mod source;
mod words;

use std::path::PathBuf;

pub use analysis::Summary;
pub use configuration::{Configuration, Liveness};
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

/// Begins a [`Configuration`]: what to verify, and how.
pub fn configure() -> Configuration {
    Configuration::default()
}

/// The examples of README.md run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
