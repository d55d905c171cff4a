//! The text of an edge: `s!ready`, `t?value(x: i32, Vec<(u8, u8)>)`.

use std::ops::Range;

use crate::machine::{Action, Direction, Message, Sort};
use crate::text::{Result, SpannedMessage};

/// The label of the initial state of a machine that plays on demand.
pub(super) const ON_DEMAND: &str = "on demand";

/// The beginning of the label of an end state where the role drops a late message: `drops s?stop`.
pub(super) const DROPS: &str = "drops ";

/// Reads an action: the label's characters with their places in the source; `span` is the whole
/// label.
///
/// ```text
/// action  ::= name ("!" | "?") ( name [ carried ] | carried )
/// carried ::= "(" [ payload { "," payload } [","] ] ")"
/// payload ::= [ name ":" ] sort
/// ```
///
/// A name has no blanks, and a message may have none, as in Scribble: `s!()`. A sort is any text
/// whose brackets match. A backslash makes the next character ordinary.
pub(super) fn parse(text: &[(usize, char)], span: Range<usize>) -> Result<Action> {
    let end = match text.last() {
        Some(&(position, c)) => position + c.len_utf8(),
        // Just inside the quotes.
        None => span.start + 1,
    };
    let mut reader = Reader { text, at: 0, end };

    let peer = reader.name("the peer, as in `s!ready`")?;
    let direction = match reader.peek() {
        Some('!') => Direction::Send,
        Some('?') => Direction::Receive,
        _ => return Err(reader.problem("expected `!` or `?` after the peer, as in `s!ready`")),
    };
    reader.at += 1;
    let label = match reader.peek() {
        Some('(') => String::new(),
        _ => reader.name("the message, as in `s!ready`")?,
    };
    let payload = if reader.peek() == Some('(') { reader.payload()? } else { vec![] };
    if reader.peek().is_some() {
        return Err(reader.problem("expected the end of the action; an edge has one action"));
    }
    let message = Message { label: label.into(), payload };
    Ok(Action { peer: peer.into(), direction, message })
}

struct Reader<'a> {
    text: &'a [(usize, char)],
    at: usize,
    /// The end of the text in the source.
    end: usize,
}

impl Reader<'_> {
    /// The next character that is not blank, without taking it.
    fn peek(&mut self) -> Option<char> {
        while self.text.get(self.at).is_some_and(|(_, c)| c.is_whitespace()) {
            self.at += 1;
        }
        self.text.get(self.at).map(|&(_, c)| c)
    }

    fn problem(&self, message: impl Into<String>) -> SpannedMessage {
        let position = |at: usize| self.text.get(at).map_or(self.end, |&(position, _)| position);
        SpannedMessage::new(position(self.at)..position(self.at + 1), message)
    }

    fn name(&mut self, what: &str) -> Result<String> {
        self.peek();
        let mut name = String::new();
        while let Some(&(_, c)) = self.text.get(self.at) {
            match c {
                '\\' => name.push(self.escaped()?),
                '!' | '?' | '(' | ')' | ',' => break,
                c if c.is_whitespace() => break,
                c => name.push(c),
            }
            self.at += 1;
        }
        match name.is_empty() {
            false => Ok(name),
            true => Err(self.problem(format!("expected the name of {what}"))),
        }
    }

    fn escaped(&mut self) -> Result<char> {
        self.at += 1;
        let escaped = self.text.get(self.at).map(|&(_, c)| c);
        escaped.ok_or_else(|| self.problem("expected a character after the backslash"))
    }

    /// `(i32, x: u8)`, from its opening parenthesis.
    fn payload(&mut self) -> Result<Vec<Sort>> {
        let opening = self.at;
        self.at += 1;
        let mut sorts = vec![];
        loop {
            if self.peek() == Some(')') {
                self.at += 1;
                return Ok(sorts);
            }
            sorts.push(self.sort(opening)?);
            if self.peek() == Some(',') {
                self.at += 1;
            }
        }
    }

    /// One sort, up to the `,` or `)` that ends it.
    fn sort(&mut self, opening: usize) -> Result<Sort> {
        let mut sort = String::new();
        // The length of `sort` that is kept although it ends with blanks.
        let mut kept = 0;
        let mut depth = 0_usize;
        // True while all so far could be the name of a payload.
        let mut named = true;
        loop {
            let Some(&(_, c)) = self.text.get(self.at) else {
                self.at = opening;
                return Err(self.problem("this parenthesis has no end; close it with `)`"));
            };
            match c {
                ',' | ')' if depth == 0 => break,
                '\\' => {
                    sort.push(self.escaped()?);
                    kept = sort.len();
                    named = false;
                    self.at += 1;
                    continue;
                }
                ':' if named && !sort.is_empty() => {
                    let path = self.text.get(self.at + 1).is_some_and(|&(_, c)| c == ':');
                    named = false;
                    if !path {
                        sort.clear();
                        kept = 0;
                        self.at += 1;
                        continue;
                    }
                }
                '(' | '[' | '{' | '<' => depth += 1,
                // The arrow of a function type closes nothing.
                '>' if sort.ends_with(['-', '=']) => {}
                ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
                _ => {}
            }
            named &= c.is_alphanumeric() || c == '_' || c.is_whitespace();
            if !(sort.is_empty() && c.is_whitespace()) {
                sort.push(c);
            }
            self.at += 1;
        }
        sort.truncate(kept.max(sort.trim_end().len()));
        match sort.is_empty() {
            false => Ok(sort.into()),
            true => Err(self.problem("expected a sort, as in `value(i32)`")),
        }
    }
}
