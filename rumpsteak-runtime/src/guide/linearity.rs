//! Linearity: each state of a session is used exactly once.
//!
//! A session type says what a role does next, and what then. Its value is the *state* of a session:
//! the right to perform the one action that comes next. The action consumes the state and returns
//! the following one.
//!
//! ```
#![doc = include_str!("ping.txt")]
//! # #[cfg(any())]
//! #[session(C)]
//! type Client = Send<S, Ping, Receive<S, Pong, End>>;
//!
//! async fn ask(role: &mut C, question: i32) -> Result<i32> {
//!     try_run(role, async |s: Client<'_>| {
//!         let s = s.send(Ping(question)).await?; // now a `Receive<S, Pong, End>`
//!         let (Pong(answer), end) = s.receive().await?;
//!         Ok((answer, end))
//!     })
//!     .await
//! }
//! # let Roles { mut c, mut s } = Roles::default();
//! # let asked = futures::future::try_join(ask(&mut c, 1), server(&mut s));
//! # assert_eq!(futures::executor::block_on(asked)?, (2, ()));
//! # Ok::<(), Error>(())
//! ```
//!
//! Rust's moves give one half of linearity, *not twice*. This does not compile, because `s` has
//! moved:
//!
//! ```compile_fail,E0382
#![doc = include_str!("ping.txt")]
//! # async fn ask(role: &mut C) -> Result<i32> {
//! # try_run(role, async |s: Client<'_>| {
//! let first = s.send(Ping(1)).await?;
//! let second = s.send(Ping(2)).await?;
//! # let (Pong(answer), end) = second.receive().await?; Ok((answer, end)) }).await }
//! ```
//!
//! The other half, *not too seldom*, comes from [`End`](crate::states::End). A process returns it beside its
//! value, the only way to get one is to perform all actions, and `try_run` takes nothing else.
//! This process stops too early, and does not compile either:
//!
//! ```compile_fail,E0308
#![doc = include_str!("ping.txt")]
//! # async fn ask(role: &mut C) -> Result<()> {
//! # try_run(role, async |s: Client<'_>| {
//! let s = s.send(Ping(1)).await?;
//! Ok(((), s))
//! # }).await }
//! ```
//!
//! # What the compiler does not see
//!
//! A process may leave early with an error; it may panic, or be cancelled. Then the state is
//! dropped, and its role is *poisoned*: see [`failure`](super::failure). The same happens where a
//! process leaks a state (`mem::forget`), or where two sessions of one role type exchange their
//! states: their routes tell them apart when they end, and both fail with
//! [`ErrorKind::ForeignEnd`](crate::ErrorKind::ForeignEnd). A different lifetime for each session would let
//! rustc find it, but today's compiler cannot prove such futures `Send`, so that no task could run
//! them.
//!
//! # States in functions
//!
//! A state is an ordinary value. A function can take one and return a later one:
//!
//! ```
#![doc = include_str!("ping.txt")]
//! type Asked<'s> = Receive<'s, C, S, Pong, End<'s, C>>;
//!
//! async fn ask(s: Client<'_>, question: i32) -> Result<Asked<'_>> {
//!     s.send(Ping(question)).await
//! }
//!
//! async fn both(role: &mut C) -> Result<i32> {
//!     try_run(role, async |s: Client<'_>| {
//!         let (Pong(answer), end) = ask(s, 6).await?.receive().await?;
//!         Ok((answer, end))
//!     })
//!     .await
//! }
//! # let Roles { mut c, mut s } = Roles::default();
//! # let asked = futures::future::try_join(both(&mut c), server(&mut s));
//! # assert_eq!(futures::executor::block_on(asked)?, (7, ()));
//! # Ok::<(), Error>(())
//! ```
