//! The Scribble protocol language: from source text to one machine per role.
//!
//! A protocol says which role sends which message to which; this crate reads it, checks it, and
//! computes what each role does. It is pure: text in, values out. It knows neither files nor Rust
//! source, and it renders nothing: an error is a [`Diagnostic`] with spans.
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
//! // Every transition knows the lines that it stands for.
//! let second = kernel.fsm.transitions().nth(1).unwrap();
//! assert_eq!(&source[kernel.origins(second.id)[0].range()], "value(i32) from s to k;");
//! # Ok::<(), String>(())
//! ```
//!
//! # The pipeline
//!
//! | step | folder | gives |
//! |---|---|---|
//! | [`parse`] | `syntax` | a [`Module`], with all that could be understood |
//! | [`Modules::load`] | `names` | the same with all that it imports |
//! | [`check`] | `names`, `global` | a [`Protocol`] for each one without errors: its global automaton |
//! | [`Protocol::project`] | `project` | a [`Projection`]: a machine, and where it is written |
//!
//! Each folder imports only those before it, and `diagnostics`, which has the wording of all
//! errors. Nothing here overflows the stack, whatever the nesting of the text, and every search has
//! a bound in [`Limits`].
//!
//! # When not to use it
//! A projection says that the roles together do what the protocol says. It does not say that a
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
mod sets;
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
    InteractionKind, Interrupt, Link, MessageExpr, Module, Parameter, ParameterKind, Payload,
    ProtocolDecl, RoleDecl,
};
pub use self::syntax::parser::{Parsed, parse};

/// The examples of README.md run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
