//! DOT: machines as Graphviz draws them.
//!
//! ```text
//! digraph k {                                the digraph's name is the role
//!   0; 1; 2; 3;                              the first node is the initial state
//!   0 -> 1 [label="s!ready", ];              `!` sends, `?` receives
//!   1 -> 2 [label="s?value(i32)"];           sorts in parentheses; `s?value(x: i32)` is the same
//!   2 -> 3 [label="t?ready()"];
//!   3 -> 0 [label="t!value(i32)"];
//! }                                          further digraphs make a system
//! ```
//!
//! Read tolerantly: names bare or quoted, attributes and default attributes of any kind (only an edge's
//! `label` means something), trailing commas and semicolons, ports, chains `0 -> 1 -> 2`, comments `//`,
//! `/* */` and `#`. What a machine cannot mean is refused at its place: undirected graphs, subgraphs, an edge
//! without a label, a digraph without a name or a node.
//!
//! A backslash in an action makes the next character part of the name (`a\!b!x` sends `x` to the role `a!b`),
//! on top of DOT's own escapes inside quotes, so that every machine whose names are not empty can be printed
//! and read back. [`print()`] writes such names so.

mod action;
mod lexer;
mod parser;
#[cfg(feature = "dot")]
mod printer;

use std::{error::Error, fmt, ops::Range};

use crate::machine::Fsm;

#[cfg(feature = "dot")]
pub use self::printer::{print, print_all};

/// Reads the machines of a DOT text, in order.
///
/// ```
/// let machines = rumpsteak_fsm::dot::parse(r#"digraph k { 0 -> 1 [label="s!ready(i32)", ]; }"#).unwrap();
/// assert_eq!(machines[0].role().as_str(), "k");
/// assert_eq!(machines[0].transitions().next().unwrap().action.to_string(), "s!ready(i32)");
/// ```
///
/// # Errors
/// The first place that is no DOT, or no machine. Time and memory are linear in the text.
pub fn parse(source: &str) -> Result<Vec<Fsm>, ParseError> {
    Ok(parse_named(source)?
        .into_iter()
        .map(|digraph| digraph.fsm)
        .collect())
}

/// As [`parse`], and keeps what the states were called and where the transitions were written.
///
/// # Errors
/// As [`parse`].
pub fn parse_named(source: &str) -> Result<Vec<Digraph>, ParseError> {
    parser::file(source).map_err(|problem| ParseError::new(source, problem))
}

/// A machine with what its text said beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digraph {
    /// The machine; its states are in order of first mention.
    pub fsm: Fsm,
    /// The node's name of each state, by [`StateId::index`](crate::StateId::index).
    pub states: Vec<String>,
    /// Where each transition's label was written, by [`TransitionId::index`](crate::TransitionId::index):
    /// bytes of the text, quotes included.
    pub labels: Vec<Range<usize>>,
}

/// Why a text is not machines in DOT, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The bytes of the text that are at fault; empty at its end.
    pub span: Range<usize>,
    /// The line of its first byte, from 1.
    pub line: usize,
    /// The column of its first byte in characters, from 1.
    pub column: usize,
    /// What is wrong and what is expected instead.
    pub message: String,
}

impl ParseError {
    pub(crate) fn new(source: &str, Problem { span, message }: Problem) -> Self {
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

/// A [`ParseError`] before its line is counted, which only the outermost function does.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }
}
