//! Which Rust items stand for which parts of a protocol.
//!
//! * A `#[derive(Role)]` struct is a role of a protocol by its `#[protocol(DoubleBuffering::k)]`.
//! * A label type is a message of the protocol by the variant of the role's `#[message(…)]` enum
//!   that carries it: by the variant's name, or its `#[label("…")]`, and by its payload. A
//!   `#[derive(Message)]` struct in the place of the enum is itself the only label.
//!
//! Names are compared as [`name`](rumpsteak_contract::name) says. Payloads are compared as types
//! are written, without the modules before a name: `value(i32)` is `struct Value(i32)`, and `type
//! <rust> "std::string::String" from "std" as Str;` makes `name(Str)` a `struct Name(String)`. A
//! payload whose type is of another package is not compared: rustc sees that both ends of a channel
//! agree, and this crate cannot read that package.
//!
//! A payload `Portal@portal` is a session that changes hands: `struct Job(Detached<Serving<'static,
//! Portal>>)`, whatever the type around the session is called, where the role of that session is
//! the struct that plays `portal` of `Portal`. Such a payload has to be in this package.

pub(crate) mod closed_sets;
pub(crate) mod context;
pub(crate) mod labels;
pub(crate) mod roles;
pub(crate) mod routes;
