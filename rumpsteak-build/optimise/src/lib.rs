#![doc = include_str!("../README.md")]

pub mod cost;
mod propose;
mod received_before;
mod reorder;

pub use self::cost::{Costs, Event};
pub use self::propose::{Options, Proposal, Proposals, Together, propose, propose_together};
pub use self::received_before::received_before;
pub use self::reorder::{Depends, anticipate};
