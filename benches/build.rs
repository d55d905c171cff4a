//! Verifies the sessions of the benchmarks against the protocols that they use.

fn main() {
    rumpsteak_build::configure()
        .protocols("../protocols/ring.scr")
        .protocols("../protocols/streaming.scr")
        .protocols("protocols")
        .verify();
}
