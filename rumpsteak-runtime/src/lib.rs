//! Session-typed message passing whose reorderings are verified at build time.
//!
//! Write a protocol once, write each of its roles as ordinary async Rust over a session type, and
//! reorder sends and receives for speed. The build script of
//! [`rumpsteak-build`](https://docs.rs/rumpsteak-build) proves that the roles cannot deadlock, lose
//! or confuse a message, or shows the shortest run in which they do, at the offending token. This
//! crate is what runs: roles, routes, and the states of sessions.
//!
//! # Example
//!
//! A client asks a server. The protocol, in `protocols/ping.scr`:
//!
//! ```text
//! global protocol Ping(role c, role s) {
//!   ping(i32) from c to s;
//!   pong(i32) from s to c;
//! }
//! ```
//!
//! The build script, in `build.rs`, with `rumpsteak-build` under `[build-dependencies]`:
//!
//! ```text
//! fn main() -> Result<(), rumpsteak_build::Report> {
//!     rumpsteak_build::verify("protocols")?;
//!     Ok(())
//! }
//! ```
//!
//! The program:
//!
//! ```ignore
//! use futures::executor::block_on;
//! use rumpsteak_runtime::{Ended, Error, protocol};
//!
//! #[protocol(Ping)]
//! mod ping {
//!     #[session(C)]
//!     type Client = Send<S, Ping, Receive<S, Pong, End>>;
//!     #[session(S)]
//!     type Server = Receive<C, Ping, Send<C, Pong, End>>;
//! }
//! use ping::{C, Client, Ping, Pong, Roles, S, Server};
//!
//! async fn client(session: Client<'_>) -> Ended<'_, C, i32> {
//!     let (Pong(answer), end) = session.send(Ping(41)).await?.receive().await?;
//!     end.end(answer)
//! }
//!
//! async fn server(session: Server<'_>) -> Ended<'_, S> {
//!     let (Ping(question), session) = session.receive().await?;
//!     session.send(Pong(question + 1)).await?.end(())
//! }
//!
//! fn main() -> Result<(), Error> {
//!     let (answer, ()) = block_on(Roles::default().run(client, server))?;
//!     assert_eq!(answer, 42);
//!     Ok(())
//! }
//! ```
//!
//! Let `Client` receive before it sends, and the build shows the run that gets stuck. Let `Server`
//! send before it receives, were the answer known, and the build passes: that is safe.
//!
//! Any executor will do. The futures are `Send` where the messages are, so roles may run as tasks
//! on many threads.
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
//!   if the roles mostly wait for each other. A process returns [`Ended`].
//! * [`try_run`] runs a process of one role, for example in a task of its own, and
//!   [`join`](fn@join) runs some of them in one task.
//! * The roles of a set are wired over [`Channel`]s, which [`channel`] explains. Other routes go
//!   over
//!   any `Sink` and `Stream`, with [`transport`].
//! * What can fail is an [`Error`]; a session that fails poisons its role and wakes the peers,
//!   until the set is [reset](guide::failure#reset).
//! * [`machine`] has the machine of a session, for tests and tools.
//! * [`testing`](mod@testing) runs all roles in every order, and plays a peer by hand.
//!
//! The [`guide`] explains them one by one: [`linearity`](guide::linearity),
//! [`recursion`](guide::recursion), [`choice`](guide::choice), [`peers`](guide::peers),
//! [`interrupts`](guide::interrupts), [`failure`](guide::failure),
//! [`executors`](guide::executors), [`channels`](guide::channels),
//! [`testing`](mod@guide::testing) and how to read the compiler's [`errors`](guide::errors).
//!
//! # Session types in signatures
//!
//! Under `#[session(C)]`, `Client` becomes a type with the lifetime of the session: `Client<'_>` in
//! the signatures of processes. A part of a session names no role (`struct Loop(…)`), and has the
//! role as a second parameter: `Loop<'_, C>`.
//!
//! # Features
//!
//! * `fsm`, off by default: `serialize::<S>()` returns the machine of a session as an `Fsm` of
//!   `rumpsteak-fsm`, to print it, or to compare it with another one.
//! * `tracing`, off by default: one event for each action of a session.
//!
//! # When not to use it
//!
//! A protocol is between a fixed number of roles. For one request and one answer, a oneshot channel
//! says it all; for peers that come and go, verify the protocol that each connection follows, and
//! keep the set of connections outside.

pub mod channel;
mod detached;
pub mod error;
mod guard;
pub mod guide;
pub mod join;
mod lent;
pub mod machine;
mod message;
pub mod prelude;
#[doc(hidden)]
pub mod private;
mod role;
mod run;
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
