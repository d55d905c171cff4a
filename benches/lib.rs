//! The benchmarks of this package are the files beside this one:
//!
//! ```text
//! cargo bench -p rumpsteak-benches --bench runtime
//! ```
