//! Reads the workspace's own source, for the checks in `tests/`: import cycles between modules, and sizes.
//!
//! Nothing here ships. Input is the workspace itself, which compiles; so everything that cannot be read is a panic.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "this crate is part of a test, and its input is a tree that compiles"
)]

mod attributes;
mod imports;
mod lines;
mod tree;
mod workspace;

pub use imports::{Cycle, cycles};
pub use lines::{Function, Lines, comment_lines_over, lines};
pub use tree::{File, Tree};
pub use workspace::{Package, Target, packages, root};

/// The packages in which something is still to be done, which is shown and does not fail.
pub const UNFINISHED: &[&str] = &[
    "benches",
    "build",
    "cargo-rumpsteak",
    "contract",
    "evaluation",
    "examples",
    "fsm",
    "macros",
    "oracle",
    "runtime",
    "scribble",
    "ui-tests",
];
