//! Why a text cannot be read.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// Why a text cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The faulty bytes of the text; empty at its end.
    pub span: Range<usize>,
    /// The line of its first byte, from 1.
    pub line: usize,
    /// The column of its first byte in characters, from 1.
    pub column: usize,
    /// The problem, and what is expected instead.
    pub message: String,
}

impl ParseError {
    pub(crate) fn new(source: &str, SpannedMessage { span, message }: SpannedMessage) -> Self {
        let before = source.get(..span.start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            span,
            message,
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Error for ParseError {}

pub(crate) type Result<T, E = SpannedMessage> = std::result::Result<T, E>;

/// A [`ParseError`] before its line is counted.
#[derive(Debug)]
pub(crate) struct SpannedMessage {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
}

impl SpannedMessage {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}
