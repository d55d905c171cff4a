//! The texts that users read.
//!
//! The text of a `compile_error!` is plain, because it appears in JSON and in editors. rustc draws the
//! user's line above it, so it only shows the `.scr` file and the run. A report on stderr is complete
//! and may have colours.

pub(crate) mod build_report;
pub(crate) mod code;
pub(crate) mod comparison;
pub(crate) mod excerpt;
pub(crate) mod notice;
pub(crate) mod refusal;
mod rules;
pub(crate) mod runs;
pub(crate) mod wording;
