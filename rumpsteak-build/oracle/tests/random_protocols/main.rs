//! Random protocols, projected, rewritten, verified, and explored.
//!
//! | variable | |
//! |---|---|
//! | `RUMPSTEAK_FUZZ` | how many systems each test tries, 2,000 otherwise; or the seeds to try, `2000..4000` |
//! | `RUMPSTEAK_FUZZ_SEED` | the one system to try |

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test states what holds, and prints its figures"
)]

mod capacities;
mod fuzz;
mod projections;
mod runs;
mod verdicts;
