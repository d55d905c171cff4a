//! What a user of the build script sees: real packages, real Cargo, real messages.

mod attacks;
mod capacities;
mod documents;
mod explain;
mod gate;
mod generate;
mod harness;
mod interrupters;
mod manners;
mod mistakes;
mod patterns;
mod places;
mod protocols;
mod random_packages;
mod readme;
mod resolution;
mod rust_analyzer;
mod source;
mod system;
mod target_folder;
mod targets;
mod units;
