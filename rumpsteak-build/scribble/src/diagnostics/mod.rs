//! What is wrong, as values: codes, places and all wording.
//!
//! One function per mistake, so that texts can be read, compared and changed on one page for each
//! series of codes: `S01..` in `syntax_errors`, `S02..` in `name_errors`, `S03..` in
//! `global_errors`, `S04..` in `projection_errors`.

pub(crate) mod code;
pub(crate) mod diagnostic;
pub(crate) mod global_errors;
pub(crate) mod name_errors;
pub(crate) mod projection_errors;
pub(crate) mod rust_types;
pub(crate) mod similar;
pub(crate) mod span;
pub(crate) mod syntax_errors;
