//! The lexer of DOT.

use std::fmt;
use std::ops::Range;

use crate::text::{Result, SpannedMessage};

#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `->`
    Arrow,
    /// `--`, which only undirected graphs have.
    Line,
    Bare(String),
    Quoted(Text),
    /// Markup between `<` and `>`.
    Html,
    /// One of `{ } [ ] ; , = : +`.
    Punctuation(char),
    End,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arrow => f.write_str("`->`"),
            Self::Line => f.write_str("`--`"),
            Self::Bare(name) => write!(f, "`{name}`"),
            Self::Quoted(_) => f.write_str("a quoted name"),
            Self::Html => f.write_str("markup"),
            Self::Punctuation(c) => write!(f, "`{c}`"),
            Self::End => f.write_str("the end of the text"),
        }
    }
}

/// The content of quotes, with escapes resolved: each character with its place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(pub(super) Vec<(usize, char)>);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(_, c)| write!(f, "{c}"))
    }
}

pub(super) struct Lexer<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, at }
    }

    pub(super) fn token(&mut self) -> Result<Token> {
        self.skip_blanks()?;
        let (start, rest) = (self.at, &self.source[self.at..]);
        let kind = match rest.chars().next() {
            None => Kind::End,
            Some('"') => Kind::Quoted(self.quoted()?),
            Some('<') => self.markup()?,
            Some(first @ ('{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' | '+')) => {
                self.at += 1;
                Kind::Punctuation(first)
            }
            Some(_) if rest.starts_with("->") => {
                self.at += 2;
                Kind::Arrow
            }
            Some(_) if rest.starts_with("--") => {
                self.at += 2;
                Kind::Line
            }
            Some(first) => {
                let name = rest.strip_prefix('-').unwrap_or(rest);
                let length = name.find(|c| !is_bare(c)).unwrap_or(name.len());
                let is_number = name.starts_with(|c: char| c.is_ascii_digit() || c == '.');
                if length == 0 || (first == '-' && !is_number) {
                    let message = format!(
                        "`{}` cannot stand here; quote names that contain it",
                        first.escape_debug()
                    );
                    return Err(SpannedMessage::new(start..start + first.len_utf8(), message));
                }
                self.at += rest.len() - name.len() + length;
                Kind::Bare(self.source[start..self.at].to_owned())
            }
        };
        Ok(Token { kind, span: start..self.at })
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            let rest = self.source[self.at..].trim_start();
            self.at = self.source.len() - rest.len();
            self.at += if rest.starts_with('#') || rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/");
                end.ok_or_else(|| self.open(2, "this comment has no end; close it with `*/`"))? + 4
            } else {
                return Ok(());
            }
        }
    }

    /// The error about something that begins here, with so many bytes, and does not end.
    fn open(&self, length: usize, message: &str) -> SpannedMessage {
        SpannedMessage::new(self.at..self.at + length, message)
    }

    /// A quoted name. Graphviz's line breaks (`\n`, `\l` and `\r`) become `\n`; a backslash at the
    /// end of a line joins it with the next; any other escape is left to the label's grammar.
    fn quoted(&mut self) -> Result<Text> {
        let mut text = Text::default();
        let mut chars = self.source[self.at + 1..].char_indices();
        let place = |at| self.at + 1 + at;
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = place(at) + 1;
                    return Ok(text);
                }
                '\\' => match chars.next() {
                    None => break,
                    Some((_, '\n')) => {}
                    Some((_, 'n' | 'l' | 'r')) => text.0.push((place(at), '\n')),
                    Some((_, escaped @ ('"' | '\\'))) => text.0.push((place(at), escaped)),
                    Some((next, other)) => {
                        text.0.extend([(place(at), '\\'), (place(next), other)]);
                    }
                },
                c => text.0.push((place(at), c)),
            }
        }
        Err(self.open(1, "this name has no end; close it with `\"`"))
    }

    fn markup(&mut self) -> Result<Kind> {
        let mut depth = 0_usize;
        for (at, c) in self.source[self.at..].char_indices() {
            match c {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at += at + 1;
                return Ok(Kind::Html);
            }
        }
        Err(self.open(1, "this markup has no end; close it with `>`"))
    }
}

/// A character of names without quotes; wider than DOT's own (`q.0`, `naïve`).
fn is_bare(c: char) -> bool {
    c.is_alphanumeric()
        || c == '_'
        || c == '.'
        || (!c.is_ascii() && !c.is_whitespace() && !c.is_control())
}
