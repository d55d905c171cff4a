#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
//!
//! # What is where
//!
//! * [`#[protocol]`](macro@protocol) makes a module the program of a protocol. The module holds its
//!   roles, messages and sessions, and everything that it does not write is generated.
//!   [`#[closed_system]`](macro@closed_system) does the same without a protocol.
//! * A session consists of the words `Send`, `Receive`, `Select`, `Branch` and `End`, which need no
//!   import. Each is a state, in [`states`]. Its one method consumes the state and returns the next
//!   one.
//! * `Roles::default().run(…)` runs one process for each role of a set in one task. This is fastest
//!   if the roles mostly wait for each other. A process returns [`Ended`]. Any executor will do.
//! * [`try_run`] runs a process of one role, for example in a task of its own, and
//!   [`join`](fn@join) runs some of them in one task. The futures are `Send` if the messages are.
//! * The roles of a set are wired over [`Channel`]s, which [`channel`] explains. Other routes go
//!   over
//!   any `Sink` and `Stream`, with [`transport`].
//! * What can fail is an [`Error`]; a session that fails poisons its role and wakes the peers,
//!   until the set is [reset](guide::failure#reset).
//! * [`machine`] has the machine of a session, for tests and tools.
//! * [`testing`](mod@testing) runs all roles in every order, and plays a peer by hand.
//!
//! The [`guide`] has a chapter for each question: [`module`](mod@guide::module),
//! [`linearity`](guide::linearity), [`recursion`](guide::recursion), [`choice`](guide::choice),
//! [`peers`](guide::peers), [`interrupts`](guide::interrupts), [`failure`](guide::failure),
//! [`executors`](guide::executors), [`channels`](guide::channels),
//! [`testing`](mod@guide::testing), and how to read the compiler's [`errors`](guide::errors).
//!
//! # Session types in signatures
//!
//! A session with a role, `#[session(C)] type Client = …`, becomes a type with the lifetime of the
//! session. Write `Client<'_>` in signatures. A part of a session names no role (`struct Loop(…)`),
//! and takes the role as a second parameter: `Loop<'_, C>`.
//!
//! # Features
//!
//! * `fsm`, off by default: `serialize::<S>()` returns the machine of a session as an `Fsm` of
//!   `rumpsteak-fsm`, to print it, or to compare it with another one.
//! * `tracing`, off by default: one event for each action of a session.
//!
//! # When not to use it
//!
//! A protocol has a fixed number of roles. For one request and one answer, use a oneshot channel.
//! For peers that come and go, verify the protocol of each connection, and keep the set of
//! connections outside.

pub mod channel;
mod detached;
pub mod error;
mod guard;
#[cfg(not(doctest))]
pub mod guide;
pub mod join;
mod lending;
pub mod machine;
mod message;
mod outcome;
mod payload;
pub mod prelude;
#[doc(hidden)]
pub mod private;
mod role;
mod run;
mod seal;
#[cfg(feature = "fsm")]
mod serialize;
pub mod states;
mod sync;
pub mod testing;
pub mod transport;
mod woken;

pub use channel::Channel;
pub use detached::Detached;
pub use error::{Error, ErrorKind, Result};
#[doc(inline)]
pub use join::join;
pub use message::Message;
pub use role::Role;
pub use rumpsteak_runtime_macros::{closed_system, protocol};
pub use run::{Running, RunningAll, run, try_run};
#[cfg(feature = "fsm")]
pub use serialize::serialize;
#[doc(inline)]
pub use states::Ended;

/// The name of [`try_run`] in the papers.
#[doc(no_inline)]
pub use run::try_run as try_session;
