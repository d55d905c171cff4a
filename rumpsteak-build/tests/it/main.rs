//! What users of the build script see: whole packages with the real Cargo, and without it the many
//! small cases.
#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

#[cfg(unix)]
mod attacks;
mod check;
mod declared;
mod gallery;
mod generate;
mod layout;
mod liveness;
#[cfg(unix)]
mod mutations;
mod packages;
mod support;
mod together;
mod whole_cargo;
