//! Random protocols, projected, rewritten, verified, and explored.
//!
//! | variable | |
//! |---|---|
//! | `RUMPSTEAK_FUZZ` | how many systems each test tries, 2,000 otherwise |
//! | `RUMPSTEAK_FUZZ_SEED` | the one system to try |

mod fuzz;
mod projections;
mod verdicts;
