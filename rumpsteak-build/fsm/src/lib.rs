//! Communicating machines and what can go wrong between them.
//!
//! The crate takes values and returns values. It knows machines, their text forms, asynchronous
//! subtyping and the exploration of systems. It knows neither files nor Scribble nor Rust source.
//!
//! [`system`] defines *safe*, *unsafe* and *starves*. [`subtype`] judges one role against its
//! protocol, [`kmc`] judges a whole system, a [`certificate`] proves a "safe", and a [`run`] shows
//! what a refusal means.
//!
//! ```
//! use rumpsteak_fsm::{Action, Fsm};
//!
//! // The kernel of double buffering: it asks the source, takes a value, and passes it on when asked.
//! let mut kernel = Fsm::builder("k");
//! let states: Vec<_> = (0..4).map(|_| kernel.add_state()).collect();
//! kernel.add_transition(states[0], Action::send("s", "ready", &[]), states[1]);
//! kernel.add_transition(states[1], Action::receive("s", "value", &["i32"]), states[2]);
//! kernel.add_transition(states[2], Action::receive("t", "ready", &[]), states[3]);
//! kernel.add_transition(states[3], Action::send("t", "value", &["i32"]), states[0]);
//! let kernel = kernel.build(states[0]);
//!
//! assert_eq!(kernel.check_directed(), Ok(()));
//! let actions: Vec<_> = kernel.transitions().map(|t| t.action.to_string()).collect();
//! assert_eq!(actions, ["s!ready", "s?value(i32)", "t?ready", "t!value(i32)"]);
//! ```

pub mod capacity;
pub mod certificate;
pub mod kmc;
pub mod machine;
pub mod optimise;
pub mod repair;
pub mod subtype;
pub mod system;
pub mod text;
pub mod verdict;
pub mod verify;

pub use machine::{
    Action, Defect, Direction, Fsm, FsmBuilder, Label, Message, Role, Sort, StateId, Transition,
    TransitionId,
};
pub use system::run::{self, Run};
pub use system::{Exploration, System};
pub use text::dot;
pub use verdict::{Limit, Limits, Verdict};
pub use verify::verify;

/// The examples of README.md run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
