//! The workloads that the benchmarks share: [`workloads`] for the verifier, [`programs`] for rustc,
//! and workloads for the runtime, each over several channels and implementations.
//!
//! | module | the workloads of the runtime over |
//! |---|---|
//! | [`bare`] | futures' unbounded mpsc, without sessions |
//! | [`unbounded`] | sessions over the same channel |
//! | [`standard`] | sessions over the default channel of the runtime |
//! | [`original`] | `rumpsteak` 0.1 of the registry, which uses futures' unbounded mpsc |
//!
//! The benchmarks are the files beside this one:
//!
//! ```text
//! cargo bench -p rumpsteak-benches --bench compile_time
//! cargo bench -p rumpsteak-benches --bench counts         # the verifier's instructions and memory
//! cargo bench -p rumpsteak-benches --bench instructions   # the runtime's instructions
//! cargo bench -p rumpsteak-benches --bench runtime
//! cargo bench -p rumpsteak-benches --bench scribble
//! cargo bench -p rumpsteak-benches --bench verifier
//! ```

#![allow(
    clippy::duplicate_mod,
    reason = "the same processes run over each channel, and a role has no parameters"
)]

pub mod bare;
pub mod cells;
pub mod original;
pub mod programs;
pub mod standard;
pub mod unbounded;
pub mod workloads;
