//! Whether the sessions of a package are safe.

pub(crate) mod capacities;
pub(crate) mod closed_system;
pub(crate) mod inclusions;
pub(crate) mod judgement;
pub(crate) mod liveness;
pub(crate) mod root;
pub(crate) mod subtype;
pub(crate) mod together;
mod wrong_part;
