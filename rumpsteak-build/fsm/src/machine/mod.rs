//! Machines: the behaviour of one role, state by state.
//!
//! An [`Fsm`] is a directed graph whose edges are [`Action`]s: a message sent to a peer (`s!ready`)
//! or received from one (`t?value(i32)`). It is a local type (PPoPP'22, Definition 1) with cycles
//! for recursion. States and transitions have dense ids in insertion order, so callers keep spans
//! and names in plain vectors beside the machine.
//!
//! ```text
//!   rec X . s!ready . s?value(i32) . X            0 ──s!ready──▶ 1
//!                                                 ▲              │
//!                                                 └─s?value(i32)─┘
//! ```

mod action;
mod defect;
mod fsm;
pub(crate) mod interned;
mod names;

pub use self::action::{Action, Direction, Message, Transition};
pub use self::defect::Defect;
pub(crate) use self::fsm::sorted;
pub use self::fsm::{Fsm, FsmBuilder, Late};
pub(crate) use self::interned::{Groups, IndexSet, digraph, lasso};
pub use self::names::{Label, Role, Sort, StateId, TransitionId};
