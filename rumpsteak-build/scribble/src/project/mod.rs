//! The machines of the roles in a protocol.

pub(crate) mod asked;
pub(crate) mod blocks;
mod collector;
mod explain;
pub(crate) mod flat;
mod interruption;
mod late;
mod local;
mod merge;
mod minimise;
pub(crate) mod on_demand;
pub(crate) mod projection;
mod rounds;
mod shuffle;
mod validity;
