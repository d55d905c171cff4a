//! Verifies the sessions of all examples against the protocols at the top level.

fn main() {
    rumpsteak_build::verify("../protocols");
}
