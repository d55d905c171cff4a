//! What is wrong with an item, and where.

use std::fmt;

use crate::token::Span;

/// An item that is not what its attribute promises.
///
/// `syn::Error` without `syn`, which every build script that verifies would have to compile.
#[derive(Clone, Debug)]
pub struct Error {
    span: Span,
    message: String,
}

/// What a parser of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error at `span`.
    pub fn new(span: Span, message: impl fmt::Display) -> Self {
        Self {
            span,
            message: message.to_string(),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
