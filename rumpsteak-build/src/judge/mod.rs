//! Whether the sessions of a module are safe.

pub(crate) mod capacities;
pub(crate) mod closed_system;
pub(crate) mod liveness;
pub(crate) mod machines;
mod root;
pub(crate) mod sessions;
pub(crate) mod subtype;
pub(crate) mod together;
mod wrong_part;
