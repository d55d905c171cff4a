//! The oracle of the verifier's tests.
//!
//! Nothing here ships: the crate is a development dependency. It shares no algorithm with
//! `rumpsteak-fsm`, and uses only the machines of that crate.
//!
//! * [`System::explore`] visits every configuration of a composed system under bounded queues.
//! * [`Successive::explore`] does the same with several sessions of each role, one after the other.
//! * [`Bounded::explore`] does it with queues that have capacities, and senders that wait.
//! * [`Global::random`] makes random global protocols as Scribble text, the same for the same seed.
//! * [`with_family`] makes random protocols with a family, and [`written_singly`] takes its members
//!   for single roles.
//! * [`interrupters`] is a block that each role may interrupt.
//! * [`mutate`] reorders, unrolls, narrows, widens or damages a machine.
//! * [`paper::subtype`] is asynchronous subtyping as PPoPP'22 gives it, rule by rule.
//! * [`corpus`] is a folder of files with known verdicts.
//! * [`cases`] is one table of cases with known verdicts, for every engine.

mod bounded;
pub mod cases;
mod connections;
mod environment;
mod equal;
mod explore;
mod family;
mod local;
mod mutation;
pub mod paper;
mod project;
mod protocol;
mod report;
mod shrink;
mod successive;
mod system;
mod texts;

pub use bounded::{Bounded, Hangs};
pub use environment::{corpus, sample, seeds};
pub use equal::equal;
pub use family::{with_family, written_singly};
pub use local::{LocalError, local};
pub use mutation::{Draft, Mutation, action, mutate, put_off, scatter, shift};
pub use protocol::{Global, Shape, interrupters};
pub use report::{Coverage, Fault, FaultKind, Finding, Limits, Neglect, Report};
pub use shrink::{Rewritten, shrink};
pub use successive::Successive;
pub use system::{Configuration, Step, System, SystemError};
pub use texts::{DOUBLE_BUFFERING, begins, ends, says};
