//! Verifies the sessions of the benchmarks against the protocol that they use.

fn main() {
    rumpsteak_build::verify("../protocols/streaming.scr");
}
