//! Random protocols, projected, rewritten, verified, and explored.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test states what holds, and prints its figures"
)]

mod blocks;
mod capacities;
mod collectors;
mod connections;
mod families;
mod fuzz;
mod gathers;
mod judgements;
mod projections;
mod runs;
mod successive;
mod undirected;
mod verdicts;
