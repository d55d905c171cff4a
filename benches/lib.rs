//! The benchmarks of this package are the files beside this one:
//!
//! ```text
//! cargo bench -p rumpsteak-benches --bench runtime
//! cargo bench -p rumpsteak-benches --bench scribble
//! cargo bench -p rumpsteak-benches --bench verifier
//! cargo run --release -p rumpsteak-benches --example counts   # instructions and memory of the verifier
//! ```
