//! What a user of the build script sees: real packages, real Cargo, real messages.

mod capacities;
mod documents;
mod explain;
mod gate;
mod generate;
mod harness;
mod interrupters;
mod labels;
mod mistakes;
mod names;
mod patterns;
mod programs;
mod random_modules;
mod readme;
mod rust_analyzer;
