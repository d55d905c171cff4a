//! Verified clients of servers without sessions: `redis-server` and PostgreSQL.
//!
//! Each is a role of a protocol in `protocols/` whose other role is the server, at the other end of
//! a [`Bridge`](rumpsteak_net::Bridge). Each client has two sessions: one in the order of the
//! protocol, which waits for each answer before it sends on, and one that pipelines. The build
//! proves that the second session never confuses answers, and never waits for an answer that does
//! not come.
//!
//! [`checkout`] is a server itself: an axum handler that holds a session between two requests.
//!
//! `cargo test -p rumpsteak-servers -- --include-ignored` runs them against the servers of the
//! machine; `benches/evaluation` measures them beside the usual clients.

pub mod checkout;
pub mod local;
pub mod postgres;
pub mod redis;
