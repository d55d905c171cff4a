//! What one role does in a protocol.

pub(crate) mod blocks;
mod explain;
pub(crate) mod flat;
mod grouped;
mod minimise;
pub(crate) mod on_demand;
pub(crate) mod projection;
mod subsets;
mod validity;
