//! The text forms of machines, told apart by what is in them.
//!
//! | form | says | does not say |
//! |---|---|---|
//! | [DOT](crate::dot) | everything | |
//! | [local types](Form::Local) | roles, labels, sorts; states as places of the text | joins, states that nothing reaches |
//! | [CFSM text](Form::Cfsm) | roles by number, labels, sorts, any graph | roles that do nothing |
//! | [binary types](Form::Binary) | labels | names of roles, sorts, joins, states that nothing reaches |
//! | [Mermaid](Form::Mermaid) | everything, for readers only | |
//!
//! States keep their identity: two places of a local type are two states, however their labels spell. What a form
//! cannot say is refused by [`print()`], with the form that can say it; nothing is guessed by [`parse`].
//!
//! # Local types, one per participant
//!
//! ```text
//! A: rec X . {B!a<i32>; X, B!stop; end}          system ::= { NAME ":" type }
//! B: rec X . {A?a<i32>; X, A?stop; end}          type   ::= "rec" NAME "." type | NAME | "end" | action | choice
//!                                                action ::= NAME ("!"|"?") label ";" type
//! -- to the end of the line                      label  ::= NAME [ "<" SORT { "," SORT } ">" ]
//! /* nested */                                   choice ::= ["+"|"&"] ( "{" type { "," type } "}" | "[" … "]" )
//! ```
//!
//! A `NAME` is made of letters, digits and `_`; a `SORT` is any text whose brackets match. A branch of a choice is
//! an action or a choice. `end` is one state of the machine, however often it is written: a finished role has no
//! future to tell apart. Every other place is a state of its own.
//!
//! # Binary types
//!
//! The same without participants, sorts and a name: `rec X . &[?a; !x; X, ?b; end]`. The machine is called `self` and
//! its only peer `peer`; the signs `&` and `+` and the kind of bracket say nothing that the actions do not.
//!
//! # CFSM text
//!
//! ```text
//! --@role k              optional: what participant 0 is called, otherwise `0`
//! .outputs
//! .state graph
//! q0 1 ! ready q1        source, peer's number in order of the file, direction, label with sorts, target
//! q1 1 ? value<i32> q0
//! .marking q0            the initial state
//! .end                   the next machine is participant 1
//! ```

mod cfsm;
mod lexer;
mod mermaid;
mod types;

use std::{error::Error, fmt, ops::Range};

pub use crate::dot::ParseError;
use crate::{
    dot::{self, Digraph, Problem},
    machine::{Fsm, Role},
};

/// A way to write machines as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Form {
    /// A binary session type: `rec X . &[?a; !x; X, ?b; end]`. One machine.
    Binary,
    /// Communicating machines as k-MC tools read them: `.outputs`, `.state graph`, …
    Cfsm,
    /// Graphviz digraphs, see [`dot`].
    Dot,
    /// Local types, one per participant: `A: rec X . {B!a; X, B!stop; end}`.
    Local,
    /// Mermaid state diagrams, which code hosts draw. Printed only.
    Mermaid,
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
        let word_end = rest.find(|c| !lexer::is_name_char(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        let keyword = |name: &str| word.eq_ignore_ascii_case(name);
        if !word.is_empty() && skip_comments(after).starts_with(':') {
            Self::Local
        } else if rest.is_empty() || keyword("digraph") || keyword("strict") || keyword("graph") {
            Self::Dot
        } else if word.starts_with("stateDiagram") {
            Self::Mermaid
        } else if rest.starts_with('.') {
            Self::Cfsm
        } else {
            Self::Binary
        }
    }

    /// The name that a command takes: `dot`, `local`, …
    pub fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Cfsm => "cfsm",
            Self::Dot => "dot",
            Self::Local => "local",
            Self::Mermaid => "mermaid",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text without the blanks and comments of all forms at its start.
fn skip_comments(mut rest: &str) -> &str {
    rest = rest.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        let line = ["--", "//", "#"]
            .iter()
            .any(|marker| rest.starts_with(marker));
        rest = if line {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if rest.starts_with("/*") {
            lexer::after_block_comment(rest).unwrap_or("")
        } else {
            return rest;
        };
    }
}

/// A machine with what its text said beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The machine; its states are in order of first mention.
    pub fsm: Fsm,
    /// What the states are called, by [`StateId::index`](crate::StateId::index); a form without names for states
    /// gives their numbers.
    pub states: Vec<String>,
    /// Where each transition was written, by [`TransitionId::index`](crate::TransitionId::index): bytes of the text.
    pub actions: Vec<Range<usize>>,
}

impl From<Digraph> for Named {
    fn from(digraph: Digraph) -> Self {
        let Digraph {
            fsm,
            states,
            labels,
        } = digraph;
        Self {
            fsm,
            states,
            actions: labels,
        }
    }
}

/// Reads the machines of a text in any form.
///
/// ```
/// let machines = rumpsteak_fsm::text::parse("A: rec X . {B!a<i32>; X, B!stop; end}").unwrap();
/// assert_eq!(format!("{:?}", machines[0]), "A: 2 states from 0, 0 -B!a(i32)-> 0, 0 -B!stop-> 1");
/// ```
///
/// # Errors
/// The first place that is not in the form that the text begins in. Time and memory are linear in the text, and no
/// depth of nesting is too deep.
pub fn parse(source: &str) -> Result<Vec<Fsm>, ParseError> {
    Ok(parse_named(source, Form::detect(source))?
        .into_iter()
        .map(|named| named.fsm)
        .collect())
}

/// Reads the machines of a text in this form, and keeps what the states were called and where the transitions were
/// written.
///
/// # Errors
/// As [`parse`].
pub fn parse_named(source: &str, form: Form) -> Result<Vec<Named>, ParseError> {
    let machines = match form {
        Form::Binary => types::parse_binary(source),
        Form::Cfsm => cfsm::parse(source),
        Form::Dot => {
            return Ok(dot::parse_named(source)?
                .into_iter()
                .map(Named::from)
                .collect());
        }
        Form::Local => types::parse_local(source),
        Form::Mermaid => {
            let message = "Mermaid is printed and not read; keep the machines in DOT";
            Err(Problem::new(0..source.len(), message))
        }
    };
    machines.map_err(|problem| ParseError::new(source, problem))
}

/// Writes machines in a form.
///
/// Reading the text back gives machines that are equal up to the order of states and transitions; in local and binary
/// types all terminal states become one.
///
/// # Errors
/// What the form cannot say, and which form can.
pub fn print(form: Form, machines: &[Fsm]) -> Result<String, Unsayable> {
    match form {
        Form::Binary => types::print_binary(machines),
        Form::Cfsm => cfsm::print(machines),
        #[cfg(feature = "dot")]
        Form::Dot => Ok(dot::print_all(machines)),
        #[cfg(not(feature = "dot"))]
        Form::Dot => Err(Unsayable {
            form,
            role: None,
            message: "DOT is printed by builds with the feature `dot`; local types say the same"
                .into(),
        }),
        Form::Local => types::print_local(machines),
        Form::Mermaid => Ok(mermaid::print(machines)),
    }
}

/// Why machines cannot be written in a form: what it has no words for, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsayable {
    /// The form.
    pub form: Form,
    /// The machine, where it is about one.
    pub role: Option<Role>,
    /// What cannot be said and what to do.
    pub message: String,
}

impl Unsayable {
    fn new(form: Form, role: &Role, message: impl Into<String>) -> Self {
        Self {
            form,
            role: Some(role.clone()),
            message: message.into(),
        }
    }
}

impl fmt::Display for Unsayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.role {
            Some(role) => write!(f, "the machine of `{role}`: {}", self.message),
            None => self.message.fmt(f),
        }
    }
}

impl Error for Unsayable {}

/// Whether a name is one word of the forms that have no quotes.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(lexer::is_name_char)
}
