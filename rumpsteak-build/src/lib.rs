//! Verifies session types against Scribble protocols from a build script.
//!
//! ```no_run
//! // In `main` of build.rs:
//! rumpsteak_build::verify("protocols");
//! ```
//!
//! The build script reads the protocols in the folder and the `#[session]` items of all targets of the package, and
//! proves for each `#[session(K)]` that the role may behave so: whatever the order of its sends and receives, no
//! deadlock, no lost and no unexpected message can come of it. Its answers go to the macros of `rumpsteak-runtime`, which
//! raise an error at the offending token, or let the session run.
//!
//! A build script that fails blinds editors, so this one fails only for errors that have no place in Rust source, such
//! as a folder that does not exist. Everything else becomes an error of rustc.
//!
//! # How it works
//!
//! The modules follow the way of the data:
//!
//! ```text
//! targets ─ walk ─ resolve ─┐                  ┌─ starvation ─┐
//!   (scan, cfg, manifest)   ├─ pair ─ serialise ─ judge ─ verify ─ capacities ─ verdicts
//! protocols ────────────────┘                      └── report ──┘
//! ```
//!
//! # What it does not see
//!
//! The source is read as it is written. Items that macros make, items inside functions and names of other packages are
//! not seen; a session that needs one is refused by the `#[session]` macro, never accepted. See [`Configuration`] for
//! source files outside of the package's targets.

mod codegen;
mod configuration;
mod judge;
mod link;
mod named_text;
mod outcome;
mod protocols;
mod report;
mod sessions;
mod source;

/// What `cargo rumpsteak` shares with the build, and nobody else.
#[doc(hidden)]
pub mod command {
    pub use crate::named_text::NamedText;
    pub use crate::report::comparison::{
        Comparison, DECIDED_BY_RUN, Explanation, among_peers, proven, shortest,
    };
    pub use crate::report::excerpt::{Excerpt, Mark, visible};
    pub use crate::report::notice::{Notice, Severity};
    pub use crate::report::words::{count, did_you_mean, list, split_way_out};
}

use std::path::{Path, PathBuf};

pub use configuration::{Check, Code, Configuration, Problem, Summary};
pub use report::{Kind, Report};
pub use rumpsteak_fsm::Limits;
pub use source::cfg::Cfg;

/// Verifies the package whose build script this is against the protocols at `path`, a `.scr` file or a folder.
///
/// Short for `configure().protocols(path).verify()`; see [`Configuration::verify`].
pub fn verify(path: impl Into<PathBuf>) {
    configure().protocols(path).verify();
}

/// Starts to say what to verify.
///
/// ```no_run
/// rumpsteak_build::configure()
///     .protocols("protocols")
///     .sources(["fixtures/roles.rs"])
///     .verify();
/// ```
pub fn configure() -> Configuration {
    Configuration::new()
}

/// The features of the package in `folder` that are on by default: what [`Cfg::from_features`] takes for a build without
/// `--features`.
///
/// # Errors
///
/// If the manifest cannot be read.
pub fn default_features(folder: &Path) -> Result<Vec<String>, Report> {
    let package = source::targets::package(folder)
        .map_err(|message| Report::of(&message, "name the folder of a package"))?;
    Ok(package.default_features.into_iter().collect())
}
