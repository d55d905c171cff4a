#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! [`system`] defines *safe*, *unsafe* and *starves*. [`subtype`] judges one role against its
//! protocol, [`kmc`] judges a whole system, a [`certificate`] proves a "safe", and a [`run`] shows
//! what a refusal means.

pub mod bounded;
pub mod capacity;
pub mod certificate;
pub mod family;
pub mod kmc;
pub mod machine;
pub mod repair;
pub mod subtype;
pub mod system;
pub mod text;
pub mod verdict;
pub mod verify;

pub use machine::{
    Action, Defect, Direction, Fsm, FsmBuilder, Label, Late, Message, Role, Sort, StateId,
    Transition, TransitionId,
};
pub use system::run::{self, Run};
pub use system::{Exploration, System};
pub use text::dot;
pub use verdict::{Limit, Limits, Verdict};
pub use verify::verify;
