//! The tests of machines and verifiers, as one program, so that a change is linked once.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an unwrap in a test is an assertion, and the figures are printed"
)]

mod bounded;
mod capacity;
mod certificate;
mod common;
mod dot;
mod drained;
mod fair;
mod invariant;
mod kmc;
mod machine;
mod on_demand;
mod optimise;
mod pairs;
mod peers;
mod random;
mod subtype;
mod system;
mod systems;
mod text;
mod unbounded;
mod verify;
