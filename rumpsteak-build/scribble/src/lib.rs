//! [gallery]: https://docs.rs/crate/rumpsteak-scribble/latest/source/GALLERY.md
//! [reference]: https://docs.rs/crate/rumpsteak-scribble/latest/source/REFERENCE.md
#![doc = include_str!("../README.md")]
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
mod syntax;

pub use self::check::{Checked, Protocol, check};
pub use self::diagnostics::{Code, Diagnostic, Name, SourceId, Span, similar};
pub use self::limits::Limits;
pub use self::names::modules::{Modules, file_of_module};
pub use self::project::projection::Projection;
pub use self::syntax::ast::{
    BlockId, Body, Declaration, DeclarationKind, Import, Interaction, InteractionId,
    InteractionKind, Interrupt, Link, MessageExpr, Module, Parameter, Payload, ProtocolDecl,
    RoleDecl,
};
pub use self::syntax::parser::{Parsed, parse};
