//! Executors and threads.
//!
//! A session is a future and needs nothing but to be polled. Any executor will do, also several at
//! once, and none is a dependency of this crate.
//!
//! # One task
//!
//! Roles that wait for each other most of the time are fastest in one task: handing a message to a
//! task on another core costs more than the message. [`join`](crate::join()) runs them so: it polls
//! only the processes that were woken, and most messages cost neither a turn of the executor's
//! queue nor a read-modify-write for the wake-up.
//!
//! ```
#![doc = include_str!("ping.txt")]
//! use futures::executor::block_on;
//! use rumpsteak_runtime::join;
//!
//! let Roles { mut c, mut s } = Roles::default();
//! let (answer, served) = block_on(join((client(&mut c, 1), server(&mut s))));
//! assert_eq!(answer?, 2);
//! served?;
//! # Ok::<(), Error>(())
//! ```
//!
//! Each process gets its own result. To drop all sessions when the first one fails, use `try_join`
//! of the `futures` crate, or of your executor.
//!
//! # Many tasks, many threads
//!
//! The future of a session is `Send` if the role, the messages and the values that the process keeps across
//! an `await` are. So a role may be moved into a task, or onto a thread:
//!
//! ```
#![doc = include_str!("ping.txt")]
//! use futures::executor::block_on;
//!
//! let Roles { mut c, mut s } = Roles::default();
//! let serving = std::thread::spawn(move || block_on(server(&mut s)));
//! assert_eq!(block_on(client(&mut c, 1))?, 2);
//! serving.join().unwrap()?;
//! # Ok::<(), Error>(())
//! ```
//!
//! With tokio it is `tokio::spawn(async move { server(&mut s).await })`.
//!
//! # Timeouts
//!
//! Use those of the executor around the whole session, such as `tokio::time::timeout(limit,
//! client(&mut c, 1))`. When the time is up the session is dropped, its role poisoned, and its peers
//! wake: see [`failure`](super::failure).
//!
//! # Seeing what happens
//!
//! With the feature `tracing`, each action emits one event at level `TRACE` and target `rumpsteak`,
//! with the fields `protocol`, `role`, `peer` and `label`. Without it, nothing is compiled in.
