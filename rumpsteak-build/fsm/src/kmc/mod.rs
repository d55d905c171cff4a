#![doc = include_str!("kmc.md")]

pub(crate) mod causality;
pub(crate) mod check;
mod full;
mod reduced;
mod report;
pub(crate) mod violation;

pub use self::check::{Reduction, check, check_at};
pub use self::report::{Flaw, Obstacle, Properties, Property, Report, Verdict, Witness};
