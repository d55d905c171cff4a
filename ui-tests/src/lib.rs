//! Verified sessions for the tests of this package.
//!
//! The package exists because sessions need a build script, which `rumpsteak-runtime` itself must
//! not have. Its tests are of two sorts: `tests/ui.rs` compiles the mistakes in `ui/`, one in each
//! file, and compares what rustc says; the others run sessions and watch what happens.

pub mod handover;
pub mod numbers;
pub mod ping;
pub mod ring;
