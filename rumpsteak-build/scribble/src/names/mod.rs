//! Names to what they mean: modules with their imports, and programs in which every name is a number.

pub(crate) mod modules;
mod recursion;
pub(crate) mod resolve;
