//! Failure: what happens when a session does not reach its end.
//!
//! The protocol itself cannot fail: it was verified. Processes can. One returns an error, panics,
//! runs into a timeout, or its task is aborted; in each case the future of the session is dropped
//! with a state in it, and that has three effects, before anything else runs:
//!
//! 1. The role is **poisoned**. It refuses the next session with
//!    [`ErrorKind::Poisoned`](crate::ErrorKind::Poisoned), because it cannot know how far its peers
//!    have come.
//! 2. All its routes are **closed**, and the messages that wait in them for the role are dropped.
//! 3. Each peer that waits for the role **wakes**, with an
//!    [`ErrorKind::Closed`](crate::ErrorKind::Closed) that names the role, the peer and the action.
//!    What the failed role had sent before is delivered first.
//!
//! The peers' processes usually pass the error on with `?`, which poisons them in turn, and so
//! wakes theirs. So the failure of one role ends the session of all, and none hangs.
//!
//! All of this happens when a state is *dropped*. A process that leaks its state (`mem::forget`, a
//! circle of `Rc`s) poisons its role too, but wakes nobody: its peers wait until the role is
//! dropped, reset, or asked for its next session, which it refuses.
//!
//! ```
#![doc = include_str!("ping.txt")]
//! use futures::{executor::block_on, future::join};
//! use rumpsteak_runtime::error::Action;
//!
//! /// Gives up on hard questions.
//! async fn choosy(role: &mut S) -> Result<(), Box<dyn std::error::Error>> {
//!     try_run(role, async |s: Server<'_>| {
//!         let (Ping(question), s) = s.receive().await?;
//!         if question > 10 {
//!             return Err("too hard".into());
//!         }
//!         Ok(((), s.send(Pong(question + 1)).await?))
//!     })
//!     .await
//! }
//!
//! let mut roles = Roles::default();
//! let (served, asked) = block_on(join(choosy(&mut roles.s), client(&mut roles.c, 99)));
//!
//! assert_eq!(served.unwrap_err().to_string(), "too hard");
//! assert!(matches!(
//!     asked.unwrap_err().kind(),
//!     ErrorKind::Closed { role: "c", peer: "s", action: Action::Receive(["Pong"]) }
//! ));
//! assert!(roles.c.is_poisoned() && roles.s.is_poisoned());
//!
//! // Reset the set as a whole, and go on.
//! roles.reset();
//! let (served, asked) = block_on(join(choosy(&mut roles.s), client(&mut roles.c, 5)));
//! assert!(served.is_ok());
//! assert_eq!(asked?, 6);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Reset
//!
//! A poisoned role never recovers alone, because its peers may have sent it messages of the session
//! that failed, or may have received messages that it sent in it. `reset` gives all roles of the
//! set fresh routes at once; messages in the old ones are dropped, so that none of them reaches a
//! later session. For roles that were taken out of their set there is `reset_each`:
//!
//! ```
#![doc = include_str!("ping.txt")]
//! # use futures::{FutureExt, executor::block_on, future::try_join};
//! let Roles { mut c, mut s } = Roles::default();
//! // The client gives up at once, and leaves its question behind.
//! assert!(client(&mut c, 99).now_or_never().is_none());
//! assert!(c.is_poisoned() && !s.is_poisoned());
//!
//! Roles::reset_each(&mut c, &mut s);
//! assert_eq!(block_on(try_join(client(&mut c, 5), server(&mut s)))?.0, 6);
//! # Ok::<(), Error>(())
//! ```
//!
//! The borrow checker sees to it that no session is running on the roles. Roles over routes that you
//! made by hand, such as sockets, are replaced by hand.
//!
//! Nothing else makes a poisoned role usable. Its routes carry a [`Mark`](crate::transport::Mark)
//! that only this crate can write; [`into_inner`](crate::transport::Bidirectional::into_inner) does
//! not part with the halves of a route whose session has not ended.
//!
//! # Routes that were exchanged
//!
//! Two routes of one type can be exchanged with `mem::swap`, within a role or between two sets.
//! What a session sends into them would reach the wrong role. So `#[derive(Roles)]` notes in each
//! route whose it is, every session looks before it begins, and refuses with
//! [`ErrorKind::Misplaced`](crate::ErrorKind::Misplaced). Whole roles may be exchanged: they bring
//! their routes along. A route that you made by hand may be anywhere, and it is on you that it
//! leads to the role that its place says.
//!
//! # What leaves a role clean
//!
//! Only `Ok`: the process returned the [`End`](crate::states::End) of this session. An error after the last
//! action poisons, too, since `Err` carries no `End`. A future that was never polled has not begun a
//! session and has no effect.
//!
//! A role that had reached its own end when a peer failed stays clean, but its route to that peer is
//! closed: its next session fails at the first action there.
//!
//! # Cancel safety
//!
//! The future of an action owns the state, so *dropping* it in the middle ends the session: after a
//! timeout around a single action, or in the losing arm of a `select!` that owns it. *Polling it by
//! reference* is cancel safe: a message is only taken from the route by the poll that returns it. To
//! wait for a message *or* for something else and then go on, keep the future, which is `Unpin`, and
//! lend it:
//!
//! ```
#![doc = include_str!("ping.txt")]
//! use futures::{executor::block_on, future::{Either, select, try_join}};
//! use std::pin::pin;
//!
//! async fn patient(role: &mut C, mut on_tick: impl FnMut()) -> Result<i32> {
//!     try_run(role, async |s: Client<'_>| {
//!         let mut answer = s.send(Ping(1)).await?.receive();
//!         loop {
//!             let tick = pin!(async {}); // a timer of your executor
//!             match select(&mut answer, tick).await {
//!                 Either::Left((received, _)) => {
//!                     let (Pong(answer), end) = received?;
//!                     return Ok((answer, end));
//!                 }
//!                 // The future is still there: nothing is lost.
//!                 Either::Right(((), _)) => on_tick(),
//!             }
//! #           let mut yielded = false;
//! #           std::future::poll_fn(|context| {
//! #               if std::mem::replace(&mut yielded, true) { return std::task::Poll::Ready(()) }
//! #               context.waker().wake_by_ref();
//! #               std::task::Poll::Pending
//! #           }).await;
//!         }
//!     })
//!     .await
//! }
//! # let Roles { mut c, mut s } = Roles::default();
//! # let mut ticks = 0;
//! # let answer = block_on(try_join(patient(&mut c, || ticks += 1), server(&mut s)))?.0;
//! # assert_eq!(answer, 2);
//! # assert!(ticks > 0);
//! # Ok::<(), Error>(())
//! ```
//!
//! With tokio it is `tokio::select! { received = &mut answer => …, _ = interval.tick() => … }`.
//!
//! # A send that failed
//!
//! `send` and `select` lose the label when they fail. Where it is precious,
//! [`send_or_return`](crate::states::Send::send_or_return) and
//! [`select_or_return`](crate::states::Select::select_or_return) give it back in an
//! [`Unsent`](crate::error::Unsent), unless the transport had already taken it.
