//! The text forms of machines, and how to tell them apart.

use std::error::Error;
use std::fmt;

use super::lexer::{after_comment, is_name_char};
use crate::machine::Role;

/// A way to write machines as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Form {
    /// A binary session type: `rec X . &[?a; !x; X, ?b; end]`. One machine. Read only.
    Binary,
    /// Communicating machines as k-MC tools read them: `.outputs`, `.state graph`, …
    Cfsm,
    /// Graphviz digraphs, see [`dot`](crate::text::dot).
    Dot,
    /// Local types, one per participant: `A: rec X . {B!a; X, B!stop; end}`.
    Local,
    /// Mermaid state diagrams, which code hosts draw. Printed only.
    Mermaid,
    /// A picture: one element of SVG, in the colour of the text around it. Printed only.
    Svg,
}

impl Form {
    /// The form that a text is in, by the first thing in it that is neither blank nor a comment.
    ///
    /// ```
    /// use rumpsteak_fsm::text::Form;
    ///
    /// assert_eq!(Form::detect("-- one role\nA: B!a; end"), Form::Local);
    /// assert_eq!(Form::detect("rec X . !a; X"), Form::Binary);
    /// assert_eq!(Form::detect(".outputs .state graph"), Form::Cfsm);
    /// assert_eq!(Form::detect("digraph a { 0 }"), Form::Dot);
    /// ```
    ///
    /// An empty text is in any form; it is taken for DOT, where no machines are a system.
    pub fn detect(source: &str) -> Self {
        let rest = skip_comments(source);
        let (word, after) = rest.split_at(rest.find(|c| !is_name_char(c)).unwrap_or(rest.len()));
        let keyword = |name: &str| word.eq_ignore_ascii_case(name);
        if !word.is_empty() && skip_comments(after).starts_with(':') {
            Self::Local
        } else if rest.is_empty() || keyword("digraph") || keyword("strict") || keyword("graph") {
            Self::Dot
        } else if word.starts_with("stateDiagram") {
            Self::Mermaid
        } else if rest.starts_with("<svg ") {
            Self::Svg
        } else if rest.starts_with('.') {
            Self::Cfsm
        } else {
            Self::Binary
        }
    }
}

/// Its name in a sentence.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Binary => "a binary type",
            Self::Cfsm => "CFSM text",
            Self::Dot => "DOT",
            Self::Local => "local types",
            Self::Mermaid => "Mermaid",
            Self::Svg => "SVG",
        })
    }
}

/// The text without the blanks and comments at its start.
fn skip_comments(mut rest: &str) -> &str {
    rest = rest.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        let line = ["--", "//", "#"].iter().any(|marker| rest.starts_with(marker));
        rest = if line {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if rest.starts_with("/*") {
            after_comment(rest, ["/*", "*/"]).unwrap_or("")
        } else {
            return rest;
        };
    }
}

/// Why machines cannot be written in a form, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintError(pub(super) String);

impl PrintError {
    pub(super) fn new(role: &Role, message: impl fmt::Display) -> Self {
        Self(format!("the machine of `{role}`: {message}"))
    }
}

impl fmt::Display for PrintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for PrintError {}
