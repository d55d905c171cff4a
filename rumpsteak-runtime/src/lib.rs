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
//! ```
//! use futures::{executor::block_on, future::try_join};
//! use rumpsteak_runtime::{Channel, Message, Role, Roles, session, try_run};
//!
//! #[derive(Roles)] struct Roles(C, S);
//! #[derive(Role)] #[protocol(Ping::c)] #[message(Label)] struct C(#[route(S)] Channel<Label>);
//! #[derive(Role)] #[protocol(Ping::s)] #[message(Label)] struct S(#[route(C)] Channel<Label>);
//! #[derive(Message)] enum Label { Ping(Ping), Pong(Pong) }
//! struct Ping(i32);
//! struct Pong(i32);
//!
//! # // Tests in documentation have no build script: by hand what `#[session]` expands to.
//! # use rumpsteak_runtime::states::{End, Receive, Send};
//! # #[cfg(any())]
//! #[session(C)] type Client = Send<S, Ping, Receive<S, Pong, End>>;
//! # type Client<'s, R = C> = Send<'s, R, S, Ping, Receive<'s, R, S, Pong, End<'s, R>>>;
//! # rumpsteak_runtime::private::plays!(C: Client);
//! # #[cfg(any())]
//! #[session(S)] type Server = Receive<C, Ping, Send<C, Pong, End>>;
//! # type Server<'s, R = S> = Receive<'s, R, C, Ping, Send<'s, R, C, Pong, End<'s, R>>>;
//! # rumpsteak_runtime::private::plays!(S: Server);
//!
//! let Roles(mut c, mut s) = Roles::default();
//! let client = try_run(&mut c, async |s: Client<'_>| s.send(Ping(41)).await?.receive().await);
//! let server = try_run(&mut s, async |s: Server<'_>| {
//!     let (Ping(question), s) = s.receive().await?;
//!     Ok(((), s.send(Pong(question + 1)).await?))
//! });
//! let (Pong(answer), ()) = block_on(try_join(client, server))?;
//! assert_eq!(answer, 42);
//! # Ok::<(), rumpsteak_runtime::Error>(())
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
//! * The attribute [`#[session]`](macro@session) makes a session type of the words `Send`,
//!   `Receive`, `Select`, `Branch` and `End`, which need no import. Each is a state, in [`states`],
//!   with the one method that it allows, which consumes the state and returns the next one.
//! * [`try_run`] lends a process the routes of a [`Role`] for one session.
//! * Roles are wired by `#[derive(Roles)]` over [`Channel`]s, which [`channel`] explains, or by
//!   hand over any `Sink` and `Stream`, with [`transport`].
//! * [`join`](fn@join) runs the processes of a set of roles in one task, fastest where they mostly
//!   wait for each other.
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
//! the signatures of processes. The parts of a session, which name no role (`#[session] struct
//! Loop(…)`), have the role as a second parameter: `Loop<'_, C>`.
//!
//! # Features
//!
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
mod lending;
pub mod machine;
mod message;
pub mod prelude;
#[doc(hidden)]
pub mod private;
mod role;
mod run;
mod seal;
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
pub use rumpsteak_runtime_macros::{Message, Role, Roles, include_protocols, protocol, session};
pub use run::{Running, run, try_run};

/// The name of [`try_run`] in the papers.
#[doc(no_inline)]
pub use run::try_run as try_session;
