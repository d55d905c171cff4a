//! Verifies the sessions of all examples against their protocols, which are at the top level.

fn main() {
    rumpsteak_build::configure()
        .protocols("../protocols/double_buffering.scr")
        .protocols("../protocols/ring_choice.scr")
        .protocols("../protocols/streaming.scr")
        .protocols("../protocols/three_adder.scr")
        .verify();
}
