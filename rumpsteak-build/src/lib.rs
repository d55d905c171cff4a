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
//! `#[closed_system]` in the package's Rust files. It proves that no session can deadlock, lose a
//! message or receive an unexpected one, whatever the order of its sends and receives. The macro on
//! the module looks the verdict up, and raises an error at the wrong token or lets sessions run.
//!
//! A failing build script hides all other diagnostics from an editor. So it fails only for errors
//! without a place in Rust source, such as a missing folder. All others become errors of rustc.

mod analysis;
mod codegen;
#[doc(hidden)]
pub mod command;
mod configuration;
#[doc(hidden)]
pub mod expansion;
mod fault;
mod findings;
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
mod verdict;
mod words;

use std::path::PathBuf;

pub use analysis::Summary;
pub use configuration::Configuration;
pub use limits::Limits;
pub use report::notice::Report;

/// Verifies the package whose build script this is against the protocols at `path`, a `.scr` file
/// or a folder, relative to the package. Short for `configure().protocols(path).verify()`.
///
/// # Errors
///
/// See [`Configuration::verify`].
pub fn verify(path: impl Into<PathBuf>) -> Result<Summary, Report> {
    configure().protocols(path).verify()
}

/// Creates a [`Configuration`].
pub fn configure() -> Configuration {
    Configuration::default()
}

/// Runs the examples of README.md as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
