//! The lexer of local types, binary types and CFSM text.

use std::ops::Range;

use super::{Result, SpannedMessage};
use crate::machine::{Direction, Message};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// Letters, digits and `_`.
    Name(&'a str),
    /// Any other character that means something.
    Mark(char),
    /// `--@role NAME`: the rest of the line, without blanks around it.
    Role(&'a str),
    End,
}

impl Kind<'_> {
    pub(super) fn direction(self) -> Option<Direction> {
        match self {
            Self::Mark('!') => Some(Direction::Send),
            Self::Mark('?') => Some(Direction::Receive),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) span: Range<usize>,
}

/// Splits a text into [`Token`]s, one ahead.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    source: &'a str,
    at: usize,
    peeked: Option<Token<'a>>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, at, peeked: None }
    }

    pub(super) fn peek(&mut self) -> Result<Token<'a>> {
        let token = self.peeked.take().map_or_else(|| self.scan(), Ok)?;
        self.peeked = Some(token.clone());
        Ok(token)
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        let token = self.peek()?;
        self.peeked = None;
        Ok(token)
    }

    /// Takes the next token if it is this mark.
    pub(super) fn follows(&mut self, mark: char) -> Result<bool> {
        let follows = self.peek()?.kind == Kind::Mark(mark);
        if follows {
            self.peeked = None;
        }
        Ok(follows)
    }

    pub(super) fn expect(&mut self, mark: char, context: &str) -> Result<()> {
        let token = self.next()?;
        match token.kind == Kind::Mark(mark) {
            true => Ok(()),
            false => Err(SpannedMessage::new(token.span, format!("expected `{mark}` {context}"))),
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<(&'a str, Range<usize>)> {
        let token = self.next()?;
        match token.kind {
            Kind::Name(name) => Ok((name, token.span)),
            _ => Err(SpannedMessage::new(token.span, format!("expected {what}"))),
        }
    }

    /// Skips `--@role` where it is a comment.
    pub(super) fn skip_roles(&mut self) -> Result<()> {
        while let Kind::Role(_) = self.peek()?.kind {
            self.peeked = None;
        }
        Ok(())
    }

    /// Reads `label<sort, …>`; also returns the place of the label.
    pub(super) fn message(&mut self, what: &str) -> Result<(Message, Range<usize>)> {
        let (label, span) = self.name(what)?;
        let payload = self.payload()?.into_iter().map(Into::into).collect();
        Ok((Message { label: label.into(), payload }, span))
    }

    /// Reads `<sort, …>` if it is there; the sorts are trimmed.
    fn payload(&mut self) -> Result<Vec<&'a str>> {
        let opening = self.peek()?;
        if opening.kind != Kind::Mark('<') {
            return Ok(vec![]);
        }
        self.peeked = None;
        let start = opening.span.start;
        let (sorts, length) = sorts(&self.source[start..])
            .map_err(|message| SpannedMessage::new(opening.span, message))?;
        self.at = start + length;
        Ok(sorts)
    }

    fn scan(&mut self) -> Result<Token<'a>> {
        loop {
            let rest = self.source[self.at..].trim_start();
            self.at = self.source.len() - rest.len();
            if let Some(comment) = rest.strip_prefix("--") {
                let start = self.at;
                let line = comment.lines().next().unwrap_or("");
                self.at += 2 + line.len();
                if let Some(role) = line.strip_prefix("@role ") {
                    return Ok(Token { kind: Kind::Role(role.trim()), span: start..self.at });
                }
            } else if rest.starts_with("/*") {
                let Some(after) = after_comment(rest, ["/*", "*/"]) else {
                    let message = "this comment has no end; close it with `*/`";
                    return Err(SpannedMessage::new(self.at..self.at + 2, message));
                };
                self.at = self.source.len() - after.len();
            } else {
                break;
            }
        }

        let start = self.at;
        let rest = &self.source[start..];
        let (kind, length) = match rest.chars().next() {
            None => (Kind::End, 0),
            Some(c) if is_name_char(c) => {
                let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
                (Kind::Name(&rest[..end]), end)
            }
            Some(c) => (Kind::Mark(c), c.len_utf8()),
        };
        self.at += length;
        Ok(Token { kind, span: start..self.at })
    }
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// True if a name can be written in forms without quotes.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_name_char)
}

/// The text behind the nested comment that `text` begins with; `None` if it has no end. `open` and
/// `close` have two bytes each.
pub fn after_comment<'t>(text: &'t str, [open, close]: [&str; 2]) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            _ if pair == open.as_bytes() => depth += 1,
            _ if pair == close.as_bytes() => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return text.get(at..);
        }
    }
    None
}

/// The sorts of the payload that `text` begins with, and its length in bytes.
pub(super) fn sorts(text: &str) -> Result<(Vec<&str>, usize), &'static str> {
    const OPEN: &str = "this payload has no end; close it with `>`";
    let mut sorts = vec![];
    let mut open: Vec<char> = vec![];
    let mut start = 1;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return Err(OPEN),
            '<' => open.push('>'),
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            // The arrow of a function type closes nothing.
            '>' if matches!(previous, '-' | '=') => {}
            '>' | ')' | ']' | '}' if open.pop() != Some(c) => {
                return Err("the brackets of this payload do not match");
            }
            _ => {}
        }
        let closed = open.is_empty();
        if closed || (c == ',' && open.len() == 1) {
            let sort = text[start..at].trim();
            if sort.is_empty() {
                return Err("expected a sort, as in `value<i32>`");
            }
            sorts.push(sort);
            start = at + 1;
        }
        if closed {
            return Ok((sorts, at + 1));
        }
        previous = c;
    }
    Err(OPEN)
}
