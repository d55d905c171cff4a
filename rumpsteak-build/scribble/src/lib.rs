//! The Scribble protocol language: from source text to one machine per role.
//!
//! A protocol describes which role sends which message to which other role. This crate parses and
//! checks it, and computes the machine of each role. It is pure: text in, values out. It reads no
//! files, knows no Rust source, and renders nothing: an error is a [`Diagnostic`] with spans.
//!
//! ```
//! use rumpsteak_scribble::{check, parse};
//!
//! let source = "
//!     global protocol DoubleBuffering(role s, role k, role t) {
//!         rec Loop {
//!             ready() from k to s;  value(i32) from s to k;
//!             ready() from t to k;  value(i32) from k to t;
//!             continue Loop;
//!         }
//!     }";
//! let parsed = parse(source);
//! assert_eq!(parsed.diagnostics, []);
//! let checked = check(&parsed.module);
//! assert_eq!(checked.diagnostics, []);
//!
//! let protocol = &checked.protocols[0];
//! let kernel = protocol.project(&"k".into()).map_err(|errors| errors[0].message.clone())?;
//! let actions: Vec<_> = kernel.fsm.transitions().map(|t| t.action.to_string()).collect();
//! assert_eq!(actions, ["s!ready", "s?value(i32)", "t?ready", "t!value(i32)"]);
//!
//! // Every transition knows its lines in the protocol.
//! let second = kernel.fsm.transitions().nth(1).unwrap();
//! assert_eq!(&source[kernel.origins(second.id)[0].range()], "value(i32) from s to k;");
//! # Ok::<(), String>(())
//! ```
//!
//! # The pipeline
//!
//! | step | folder | result |
//! |---|---|---|
//! | [`parse`] | `syntax` | a [`Module`], with everything that could be understood |
//! | [`Modules::load`] | `names` | the module and its imports |
//! | [`check`] | `names`, `global` | a [`Protocol`] for each one without errors: its automaton |
//! | [`Protocol::project`] | `project` | a [`Projection`]: a machine, with places |
//!
//! Each folder imports only the folders before it, and `diagnostics`, which contains the wording of
//! all errors. No nesting of the text overflows the stack, and [`Limits`] bound every search.
//!
//! # When not to use it
//! Projection shows that the roles together do what the protocol says. It does not show that a
//! process which reorders its messages still does: that is asynchronous subtyping, in
//! `rumpsteak-fsm`.

mod annotations;
mod check;
mod diagnostics;
mod global;
mod index;
mod limits;
mod names;
mod project;
mod search;
mod syntax;

pub use self::check::{Checked, Protocol, check};
pub use self::diagnostics::code::Code;
pub use self::diagnostics::diagnostic::{Diagnostic, Severity};
pub use self::diagnostics::similar::similar;
pub use self::diagnostics::span::{Name, SourceId, Span};
pub use self::limits::Limits;
pub use self::names::modules::{Modules, file_of_module};
pub use self::project::projection::Projection;
pub use self::syntax::ast::{
    BlockId, Body, Declaration, DeclarationKind, Import, Interaction, InteractionId,
    InteractionKind, Interrupt, Link, MessageExpr, Module, Parameter, Payload, ProtocolDecl,
    RoleDecl,
};
pub use self::syntax::parser::{Parsed, parse};

/// The examples of README.md run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
