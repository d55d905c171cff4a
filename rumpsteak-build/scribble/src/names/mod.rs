//! Name resolution: modules with their imports, and programs in which every name is a number.

pub(crate) mod modules;
pub(crate) mod program;
mod recursion;
pub(crate) mod resolve;
mod scope;
