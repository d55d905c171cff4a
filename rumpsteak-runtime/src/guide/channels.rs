//! Channels and their capacities.
//!
//! A [`Channel`](crate::Channel) is what connects two roles of one process: a queue in each
//! direction. You write `#[route(S)] s: Channel<Label>` and nothing about its size. The build
//! script knows the size.
//!
//! # What the build script proves
//!
//! It composes the sessions of all roles as you wrote them, lets each role start its next session
//! whenever it has finished one, even if its peers have not, and looks for the most messages that
//! can ever be in each queue. `#[derive(Roles)]` then makes each queue accordingly:
//!
//! | proven | the queue | a sender |
//! |---|---|---|
//! | never more than n messages | a ring with room for n | never waits |
//! | any number, but waiting is safe with room for n | a ring with room for n or more | waits while the ring is full |
//! | nothing | a ring that is replaced by one of twice the size when it is full | never waits |
//!
//! Double buffering, with the kernel that asks for the second buffer before it has used the first:
//! two requests may be under way to the source, and two values back. Nothing waits for room. A
//! source that streams without being asked has no bound: it is held back, as it would be by any
//! bounded channel, and the proof is that this cannot deadlock.
//!
//! Change the session, and the capacities change with the next build. They are in
//! `rumpsteak/verdicts.json` below `OUT_DIR`, an object for each queue of each role:
//!
//! ```text
//! {"route":0,"peer":"s","capacity":{"at-most":2}}
//! ```
//!
//! # Where nothing is proven
//!
//! The third row is what you get where
//!
//! * a role of the set is in another package, has no session, or has several that differ;
//! * the search for a bound became too long for a build, or its result too large for a ring;
//! * the roles have no protocol, or there is no build script, as in an example in documentation.
//!
//! A queue that grows is no slower once it has grown. What it lacks is the bound on memory.
//!
//! # When a queue waits
//!
//! Waiting is safe as long as all roles of the set make progress: in tasks of their own, on
//! threads, or joined in one task. One role played to its end before the next one starts is the
//! exception. A queue that waits has room for everything that a single session can have under way,
//! if that has a bound, but not for the sessions after it.
//!
//! # When a proof is wrong
//!
//! Every send checks for room, in release builds too. A full queue that was proven never to be full
//! is a panic, which names both roles and the capacity, and poisons the role like any other panic.
//! It is never undefined behaviour, and never a message that is lost or a sender that waits in
//! silence. You can provoke it: messages that you put into a
//! [`route`](crate::transport::Route::route) by hand take room that the sessions were promised.
//!
//! # Capacities of your own
//!
//! For roles that are built by hand:
//!
//! ```
#![doc = include_str!("ping.txt")]
//! use futures::{executor::block_on, future::try_join};
//! use rumpsteak_runtime::channel::Capacity;
//!
//! let (to_server, to_client) = Channel::with_capacities(Capacity::Waits(1), Capacity::AtMost(1));
//! let (mut c, mut s) = (C { s: to_server }, S { c: to_client });
//! let (answer, ()) = block_on(try_join(client(&mut c, 1), server(&mut s)))?;
//! assert_eq!(answer, 2);
//! # Ok::<(), Error>(())
//! ```
//!
//! Then it is on you that waiting roles do not wait in a circle. Any other pair of a sink and a
//! stream can be a route as well, such as a framed socket: a
//! [`Bidirectional`](crate::transport::Bidirectional). Each direction must deliver in order and lose nothing,
//! and should have room for every message that can be under way.
//!
//! # What it costs
//!
//! A queue is one ring and one block that both ends share: three allocations when it is made, none
//! for a message. Sending and receiving take no lock. A ring has its memory from the start; a queue
//! that grows starts with room for eight messages.
