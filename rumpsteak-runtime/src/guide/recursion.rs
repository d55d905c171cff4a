//! Recursion: sessions that repeat.
//!
//! A type alias cannot contain itself. A struct can, so a session that repeats has a struct at the
//! point to which it returns, which calls itself `Self` or by its name:
//!
//! ```
//! # use futures::{executor::block_on, future::join};
//! # use rumpsteak_runtime::{Channel, Error, ErrorKind, Message, Role, Roles, session, try_run};
//! # use rumpsteak_runtime::private::Plays;
//! # use rumpsteak_runtime::states::{Receive, Send};
//! use std::convert::Infallible;
//!
//! # #[derive(Role)] #[protocol(Ticks::a)] #[message(Tick)] struct A { #[route(B)] b: Channel<Tick> }
//! # #[derive(Role)] #[protocol(Ticks::b)] #[message(Tick)] struct B { #[route(A)] a: Channel<Tick> }
//! # #[derive(Roles)] struct Roles { a: A, b: B }
//! #[derive(Message)]
//! struct Tick(u32);
//!
//! # #[cfg(any())]
//! #[session(A)]
//! struct Ticker(Send<B, Tick, Receive<B, Tick, Self>>);
//! # #[session] struct Ticking(Send<B, Tick, Receive<B, Tick, Self>>);
//! # type Ticker<'s, R = A> = Ticking<'s, R>;
//! # impl<'s> Plays<Ticker<'s>> for A {}
//!
//! async fn tick(role: &mut A, limit: u32) -> Result<Infallible, Stopped> {
//!     try_run(role, async |mut s: Ticker<'_>| {
//!         let mut count = 0;
//!         loop {
//!             let (Tick(came), next) = s.send(Tick(count)).await?.receive().await?;
//!             if came >= limit {
//!                 return Err(Stopped::After(came));
//!             }
//!             (count, s) = (came, next);
//!         }
//!     })
//!     .await
//! }
//!
//! # #[derive(Debug)]
//! enum Stopped {
//!     After(u32),
//!     Failed(Error),
//! }
//!
//! impl From<Error> for Stopped {
//!     fn from(error: Error) -> Self {
//!         Self::Failed(error)
//!     }
//! }
//! # #[session] struct Echoing(Receive<A, Tick, Send<A, Tick, Self>>);
//! # type Echo<'s, R = B> = Echoing<'s, R>;
//! # impl<'s> Plays<Echo<'s>> for B {}
//! # async fn echo(role: &mut B) -> Result<Infallible, Error> {
//! #     try_run(role, async |mut s: Echo<'_>| loop {
//! #         let (Tick(count), next) = s.receive().await?;
//! #         s = next.send(Tick(count + 1)).await?;
//! #     })
//! #     .await
//! # }
//!
//! # let Roles { mut a, mut b } = Roles::default();
//! let (ticked, echoed) = block_on(join(tick(&mut a, 10), echo(&mut b)));
//! assert!(matches!(ticked, Err(Stopped::After(10))));
//! assert!(matches!(echoed.unwrap_err().kind(), ErrorKind::Closed { role: "b", peer: "a", .. }));
//! ```
//!
//! The struct has the methods of the action that it begins with, so `s.send(..)` works as on the
//! session inside. `into_session` unwraps it where generic code wants the inside.
//!
//! # Sessions without an end
//!
//! `Ticker` never ends, so no [`End`](crate::states::End) of it exists, and its process cannot
//! return `Ok`. Its value is [`Infallible`](std::convert::Infallible), and it leaves only with an
//! error. That poisons the role and closes its routes, which is how the peers learn that they may
//! stop: an endless session is over when the first role has had enough. If stopping is part of the
//! protocol, say so there, with a [`choice`](super::choice).
//!
//! # Several sessions, one after the other
//!
//! A role outlives its sessions. Where a protocol ends, the same role runs the next session over
//! the same routes, and it need not wait until its peers have finished theirs: queues keep the
//! order, so the messages of the next session queue up behind those of this one.
