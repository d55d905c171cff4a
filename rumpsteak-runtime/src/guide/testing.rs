//! Testing one role, without its peers.
//!
//! A role is a struct of routes, so a test can hold the other end of each route itself. It then
//! plays the peers: it sends what they would send and looks at what arrives. Nothing checks that
//! the test keeps to the protocol; the role under test does, and answers with
//! [`ErrorKind::Unexpected`](crate::ErrorKind::Unexpected) where the test breaks it.
//!
//! ```
#![doc = include_str!("ping.txt")]
//! use futures::{StreamExt, executor::block_on};
//! use rumpsteak_runtime::transport::Pair;
//!
//! // The two ends of a route: one for the role, one for the test.
//! let (near, far) = <Channel<Label> as Pair<Channel<Label>>>::pair();
//! let mut server_role = S { c: near };
//! let (mut to_server, mut from_server) = far.into_inner().unwrap();
//!
//! // Queues made by hand grow: put all questions in before the role starts.
//! assert!(to_server.try_send(Label::Ping(Ping(41))).is_ok());
//! block_on(server(&mut server_role))?;
//! let Some(Label::Pong(Pong(42))) = block_on(from_server.next()) else {
//!     panic!("expected the successor");
//! };
//!
//! // A peer that breaks the protocol.
//! assert!(to_server.try_send(Label::Pong(Pong(0))).is_ok());
//! let error = block_on(server(&mut server_role)).unwrap_err();
//! assert_eq!(error.to_string(), "`s` got `Pong` from `c` but can only receive `Ping`");
//! # Ok::<(), Error>(())
//! ```
//!
//! # Without an executor
//!
//! Since a send over a [`Channel`](crate::Channel) made by [`pair`](crate::transport::Pair::pair)
//! never waits, a role whose messages are all there
//! finishes in a single poll. `futures::FutureExt::now_or_never` makes that an assertion: it is
//! `None` if the role waits for something that the test forgot.
//!
//! ```
#![doc = include_str!("ping.txt")]
//! use futures::FutureExt;
//!
//! let Roles { mut c, s } = Roles::default();
//! assert!(client(&mut c, 1).now_or_never().is_none()); // waits for the answer
//! assert!(c.is_poisoned()); // and its future is gone now
//! # drop(s);
//! ```
//!
//! # The peers' failures
//!
//! Drop the far end, and the role sees what it would see of a peer that failed:
//!
//! ```
#![doc = include_str!("ping.txt")]
//! # use futures::executor::block_on;
//! let Roles { mut c, s } = Roles::default();
//! drop(s);
//! let error = block_on(client(&mut c, 1)).unwrap_err();
//! assert!(matches!(error.kind(), ErrorKind::Closed { role: "c", peer: "s", .. }));
//! ```
//!
//! # The protocol itself
//!
//! Needs no test: that the roles fit together is what the build script proves, for all runs.
