//! Verified clients of servers that know nothing of sessions: `redis-server` and PostgreSQL.
//!
//! Each is a role of a protocol in `protocols/` whose other role is the server, at the other end of
//! a [`Bridge`](rumpsteak_net::Bridge). There are two sessions of it: the order of the protocol,
//! which waits for each answer before it sends on, and one that pipelines. That the second one
//! cannot take an answer for another one's, or wait for an answer that never comes, is what the
//! build proves.
//!
//! [`checkout`] is a server itself: an axum handler that holds a session between two requests.
//!
//! `cargo test -p rumpsteak-servers -- --include-ignored` runs them against the servers of the
//! machine; `benches/evaluation` measures them beside the usual clients.

pub mod checkout;
pub mod local;
pub mod postgres;
pub mod redis;
