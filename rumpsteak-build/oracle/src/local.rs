//! Local types as text, for cases written by hand.
//!
//! ```text
//! T ::= end | X | rec X . T | peer!label(sort, …).T | peer?{ label.T, label.T }
//! ```
//! White space may stand anywhere between the words.

use std::error::Error;
use std::fmt;

use rumpsteak_fsm::{Action, Fsm, FsmBuilder, StateId};

use crate::Draft;

/// The error of a text that is not a local type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalError {
    /// The position, in bytes.
    pub offset: usize,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

impl Error for LocalError {}

/// The machine of `role` that `text` describes. A variable is an edge back to its `rec`.
///
/// # Errors
/// The first mistake in `text`: a missing word, an unbound variable, or a `rec` with nothing but
/// its variable. Types nested deeper than 500 are refused.
///
/// ```
/// let kernel = rumpsteak_oracle::local("k", "rec X . s!ready . s?value(i32) . X")?;
/// assert_eq!(format!("{kernel:?}"), "k: 2 states from 0, 0 -s!ready-> 1, 1 -s?value(i32)-> 0");
/// # Ok::<(), rumpsteak_oracle::LocalError>(())
/// ```
pub fn local(role: &str, text: &str) -> Result<Fsm, LocalError> {
    let mut builder = Fsm::builder(role);
    let initial = builder.add_state();
    let mut reader = Reader { text, offset: 0, builder, variables: vec![], end: None, depth: 0 };
    reader.body(initial)?;
    reader.space();
    match reader.offset == text.len() {
        // Numbered breadth first, in the order of the text.
        true => Ok(Draft::from(&reader.builder.build(initial)).build()),
        false => reader.fail("nothing may follow the type"),
    }
}

/// How deep types may nest: the reader recurses.
const DEPTH: usize = 500;

struct Reader<'a> {
    text: &'a str,
    offset: usize,
    builder: FsmBuilder,
    /// The variables in scope, innermost last, with the states that they lead back to.
    variables: Vec<(&'a str, StateId)>,
    /// The state that every `end` shares.
    end: Option<StateId>,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Reads a type whose first action leaves `state`.
    fn body(&mut self, state: StateId) -> Result<(), LocalError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fail("the type nests too deep");
        }
        let word = self.word()?;
        match word {
            "end" => {}
            "rec" => {
                let name = self.word()?;
                self.require('.')?;
                self.variables.push((name, state));
                self.body(state)?;
                self.variables.pop();
            }
            peer => self.action(state, peer)?,
        }
        self.depth -= 1;
        Ok(())
    }

    fn action(&mut self, state: StateId, peer: &str) -> Result<(), LocalError> {
        let make: fn(&str, &str, &[&str]) -> Action = match () {
            () if self.eat('!') => |peer, label, payload| Action::send(peer, label, payload),
            () if self.eat('?') => |peer, label, payload| Action::receive(peer, label, payload),
            () => return self.fail("`!` or `?` must follow a peer, or the variable is unguarded"),
        };
        let several = self.eat('{');
        loop {
            let label = self.word()?;
            let mut payload = vec![];
            if self.eat('(') && !self.eat(')') {
                loop {
                    payload.push(self.word()?);
                    if !self.eat(',') {
                        break;
                    }
                }
                self.require(')')?;
            }
            self.require('.')?;
            let target = self.target()?;
            self.builder.add_transition(state, make(peer, label, &payload), target);
            if !(several && self.eat(',')) {
                break;
            }
        }
        if several { self.require('}') } else { Ok(()) }
    }

    /// Reads a type that may be a variable or `end`, and returns its first state.
    fn target(&mut self) -> Result<StateId, LocalError> {
        let start = self.offset;
        let word = self.word()?;
        if word == "end" {
            return Ok(match self.end {
                Some(state) => state,
                None => *self.end.insert(self.builder.add_state()),
            });
        }
        let bound = self.variables.iter().rev().find(|(name, _)| *name == word);
        if let Some(&(_, state)) = bound {
            return Ok(state);
        }
        self.offset = start;
        let state = self.builder.add_state();
        self.body(state)?;
        Ok(state)
    }

    fn space(&mut self) {
        let rest = &self.text[self.offset..];
        self.offset += rest.len() - rest.trim_start().len();
    }

    fn word(&mut self) -> Result<&'a str, LocalError> {
        self.space();
        let rest = &self.text[self.offset..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            return self.fail("a word must stand here");
        }
        self.offset += end;
        Ok(&rest[..end])
    }

    fn eat(&mut self, mark: char) -> bool {
        self.space();
        let found = self.text[self.offset..].starts_with(mark);
        if found {
            self.offset += mark.len_utf8();
        }
        found
    }

    fn require(&mut self, mark: char) -> Result<(), LocalError> {
        if self.eat(mark) { Ok(()) } else { self.fail(&format!("`{mark}` must stand here")) }
    }

    fn fail<T>(&self, message: &str) -> Result<T, LocalError> {
        Err(LocalError { offset: self.offset, message: message.to_owned() })
    }
}
