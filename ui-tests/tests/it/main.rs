//! The behaviour of verified sessions. One program, so that the executors are compiled once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a panic fails the test")]

mod allocations;
mod cancel_safety;
mod channels;
mod delegation;
mod failure;
mod failure_matrix;
mod families;
mod gather;
mod held;
mod hygiene;
mod join;
mod misuse;
mod peers;
mod process;
mod routes;
mod run;
mod sessions;
mod soak;
mod successive_sessions;
mod testing;
mod watch;
mod wiring;
