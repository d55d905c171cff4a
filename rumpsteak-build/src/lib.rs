#![doc = include_str!("../README.md")]
//!
//! # When it fails
//!
//! A failing build script hides all other diagnostics from an editor. So it fails only for errors
//! that no macro can raise, such as a missing folder. All others become errors of rustc.

#![cfg_attr(not(feature = "command"), expect(unreachable_pub, reason = "the command's interface"))]

mod analysis;
mod codegen;
#[cfg(feature = "command")]
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
mod short_map;
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
