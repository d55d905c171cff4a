//! The workloads over `rumpsteak` 0.1 of the registry. The runtime is compared with it.

#![allow(
    missing_debug_implementations,
    missing_docs,
    clippy::type_complexity,
    reason = "its types have no `Debug`, and the workloads are documented beside ours"
)]

pub mod double_buffering;
pub mod ring;
pub mod streaming;
