//! Verifies the sessions of all benchmarks against the protocols at the top level.

fn main() {
    rumpsteak_build::verify("../protocols");
}
