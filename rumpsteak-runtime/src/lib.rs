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
//! A client asks a server to add two numbers. The protocol, in `protocols/adder.scr`:
//!
//! ```text
//! global protocol Adder(role c, role s) {
//!   add(i32, i32) from c to s;
//!   sum(i32) from s to c;
//! }
//! ```
//!
//! The build script, in `build.rs`, with `rumpsteak-build` under `[build-dependencies]`:
//!
//! ```text
//! fn main() {
//!     rumpsteak_build::verify("protocols")
//! }
//! ```
//!
//! The program:
//!
//! ```
//! use futures::executor::block_on;
//! use futures::future::try_join;
//! use rumpsteak_runtime::{Channel, End, Message, Receive, Result, Role, Roles, Send, session, try_session};
//!
//! #[derive(Message)]
//! enum Label {
//!     Add(Add),
//!     Sum(Sum),
//! }
//! struct Add(i32, i32);
//! struct Sum(i32);
//!
//! #[derive(Role)]
//! #[protocol(Adder::c)]
//! #[message(Label)]
//! struct C {
//!     #[route(S)]
//!     s: Channel<Label>,
//! }
//!
//! #[derive(Role)]
//! #[protocol(Adder::s)]
//! #[message(Label)]
//! struct S {
//!     #[route(C)]
//!     c: Channel<Label>,
//! }
//!
//! #[derive(Roles)]
//! struct Roles {
//!     c: C,
//!     s: S,
//! }
//!
//! # // Documentation tests have no build script: what `#[session]` expands to stands here, less the check.
//! # #[cfg(any())]
//! #[session(C)]
//! type Client = Send<S, Add, Receive<S, Sum, End>>;
//! # type Client<'s, R = C> = Send<'s, R, S, Add, Receive<'s, R, S, Sum, End<'s, R>>>;
//! # impl<'s> rumpsteak_runtime::private::Plays<Client<'s>> for C {}
//!
//! # #[cfg(any())]
//! #[session(S)]
//! type Server = Receive<C, Add, Send<C, Sum, End>>;
//! # type Server<'s, R = S> = Receive<'s, R, C, Add, Send<'s, R, C, Sum, End<'s, R>>>;
//! # impl<'s> rumpsteak_runtime::private::Plays<Server<'s>> for S {}
//!
//! async fn client(role: &mut C, x: i32, y: i32) -> Result<i32> {
//!     try_session(role, async |s: Client<'_>| {
//!         let s = s.send(Add(x, y)).await?;
//!         let (Sum(sum), end) = s.receive().await?;
//!         Ok((sum, end))
//!     })
//!     .await
//! }
//!
//! async fn server(role: &mut S) -> Result<()> {
//!     try_session(role, async |s: Server<'_>| {
//!         let (Add(x, y), s) = s.receive().await?;
//!         let end = s.send(Sum(x + y)).await?;
//!         Ok(((), end))
//!     })
//!     .await
//! }
//!
//! let Roles { mut c, mut s } = Roles::default();
//! let (sum, ()) = block_on(try_join(client(&mut c, 2, 3), server(&mut s)))?;
//! assert_eq!(sum, 5);
//! # Ok::<(), rumpsteak_runtime::Error>(())
//! ```
//!
//! Any executor will do. The futures are `Send` where the messages are, so roles may run as tasks
//! on many threads.
//!
//! # What is where
//!
//! * A session type is built from [`Send`], [`Receive`], [`Select`], [`Branch`] and [`End`] under
//!   the attribute [`#[session]`](macro@session). Each is a state with the one method that it
//!   allows, which consumes it and returns the next.
//! * A process runs in [`try_session`] or [`session`](fn@session()), which lends it the routes of a
//!   [`Role`].
//! * Roles are wired by `#[derive(Roles)]` over [`Channel`]s, or by hand over any `Sink` and
//!   `Stream` in a [`Bidirectional`].
//! * What can fail is an [`Error`]; a session that fails poisons its role and wakes the peers.
//!
//! # When not to use it
//!
//! A protocol is between a fixed number of roles. For one request and one answer, a oneshot channel
//! says it all; for peers that come and go, verify the protocol that each connection follows, and
//! keep the set of connections outside.

mod error;
mod message;
#[doc(hidden)]
pub mod private;
mod role;
mod route;
mod session;
mod states;

pub use error::{Action, BoxError, Error, Result, Unsent};
pub use message::{Labelled, Message};
pub use role::{Role, Route};
pub use route::{
    Arrival, Bidirectional, Channel, Incoming, Link, Nil, Outgoing, Pair, Receiver, RouteError,
    Sender,
};
pub use rumpsteak_macros::{Message, Role, Roles, include_protocols, session};
pub use session::{session, try_session};
pub use states::{Branch, Choice, End, Offers, Receive, Select, Send, Session, State};
