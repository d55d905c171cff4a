//! k-multiparty compatibility: the corpora's verdicts, the engine against the definitions, the
//! reduction against the engine, and what is said of refusals.

#![allow(clippy::unwrap_used, reason = "an unwrap in a test is an assertion")]

#[path = "../common/mod.rs"]
mod common;
mod corpora;
mod protocols;
mod random;
mod reference;
mod verdicts;
