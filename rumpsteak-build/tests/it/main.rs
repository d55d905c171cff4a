//! What users of the build script see: whole packages with the real Cargo, and without it the many
//! small cases.
#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

mod support;
mod whole_cargo;
