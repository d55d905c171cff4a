//! Machines: what one role does, state by state.
//!
//! An [`Fsm`] is a directed graph whose edges are [`Action`]s: a message sent to a peer (`s!ready`)
//! or received from one (`t?value(i32)`). It is what a local type (PPoPP'22, Definition 1) means
//! once recursion is a cycle. States and transitions have dense ids in insertion order, so a caller
//! keeps what it knows about them (spans, names) in plain vectors beside the machine.
//!
//! ```text
//!   rec X . s!ready . s?value(i32) . X            0 ──s!ready──▶ 1
//!                                                 ▲              │
//!                                                 └─s?value(i32)─┘
//! ```

mod action;
mod defect;
mod fsm;
mod ids;
pub(crate) mod interned;
mod names;

pub use self::action::{Action, Direction, Message, Transition};
pub use self::defect::Defect;
pub use self::fsm::{Fsm, FsmBuilder};
pub use self::ids::{StateId, TransitionId};
pub use self::names::{Label, Role, Sort};
