//! What is wrong, as values: codes, places and wording.

pub(crate) mod code;
pub(crate) mod diagnostic;
pub(crate) mod similar;
pub(crate) mod span;
