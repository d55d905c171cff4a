//! The guide: one chapter per thing that a user of the crate wants to know.
//!
//! | chapter | answers |
//! |---|---|
//! | [`linearity`] | Why must I write `let s = s.send(..)`, and return `end`? |
//! | [`recursion`] | How does a session loop, and how does one run for ever? |
//! | [`choice`] | How does a role choose, and how do its peers learn of it? |
//! | [`failure`] | What happens when a process fails, panics or is cancelled? |
//! | [`executors`] | Which executor, and how many threads? |
//! | [`channels`] | How large is a channel, and can a send wait? |
//! | [`testing`] | How do I test one role without its peers? |
//! | [`errors`] | What does the compiler want to tell me? |
//!
//! Most examples use the protocol of the crate page, in which a client asks and a server answers:
//!
//! ```text
//! global protocol Ping(role c, role s) {
//!   ping(i32) from c to s;
//!   pong(i32) from s to c;
//! }
//! ```
//!
//! The examples run as tests of this crate. Where they hide something, it is the roles, and what
//! the attribute `#[session]` makes of an alias: tests in documentation have no build script that
//! could verify it.

pub mod channels;
pub mod choice;
pub mod errors;
pub mod executors;
pub mod failure;
pub mod linearity;
pub mod recursion;
pub mod testing;
