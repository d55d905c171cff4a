//! The lexer of DOT.

use std::fmt;
use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use crate::text::error::SpannedMessage;

/// A word and its bytes.
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
    chars: Peekable<CharIndices<'a>>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let mut chars = source.char_indices().peekable();
        chars.next_if(|&(_, c)| c == '\u{feff}');
        Self { source, chars }
    }

    pub(super) fn token(&mut self) -> Result<Token, SpannedMessage> {
        self.skip_blanks()?;
        let Some((start, first)) = self.chars.next() else {
            let end = self.source.len();
            return Ok(Token { kind: Kind::End, span: end..end });
        };

        let kind = match first {
            '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' | '+' => Kind::Punctuation(first),
            '"' => Kind::Quoted(self.quoted(start)?),
            '<' => self.html(start)?,
            '-' if self.follows('>') => Kind::Arrow,
            '-' if self.follows('-') => Kind::Line,
            '-' if self.chars.peek().is_some_and(|&(_, c)| c.is_ascii_digit() || c == '.') => {
                self.bare(start)
            }
            c if is_bare(c) => self.bare(start),
            c => {
                let message = format!(
                    "`{}` cannot stand here; quote names that contain it",
                    c.escape_debug()
                );
                return Err(SpannedMessage::new(start..self.position(), message));
            }
        };
        Ok(Token { kind, span: start..self.position() })
    }

    fn position(&mut self) -> usize {
        self.chars.peek().map_or(self.source.len(), |&(position, _)| position)
    }

    fn follows(&mut self, expected: char) -> bool {
        self.chars.next_if(|&(_, c)| c == expected).is_some()
    }

    fn skip_blanks(&mut self) -> Result<(), SpannedMessage> {
        loop {
            match self.chars.peek() {
                Some(&(_, c)) if c.is_whitespace() => {
                    self.chars.next();
                }
                Some((_, '#')) => self.skip_line(),
                Some(&(start, '/')) => {
                    self.chars.next();
                    if self.follows('/') {
                        self.skip_line();
                    } else if self.follows('*') {
                        self.skip_block(start)?;
                    } else {
                        let message = "`/` cannot stand here; quote names that contain it";
                        return Err(SpannedMessage::new(start..start + 1, message));
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        while self.chars.next_if(|&(_, c)| c != '\n').is_some() {}
    }

    fn skip_block(&mut self, start: usize) -> Result<(), SpannedMessage> {
        while let Some((_, c)) = self.chars.next() {
            if c == '*' && self.follows('/') {
                return Ok(());
            }
        }
        Err(SpannedMessage::new(start..start + 2, "this comment has no end; close it with `*/`"))
    }

    fn bare(&mut self, start: usize) -> Kind {
        while self.chars.next_if(|&(_, c)| is_bare(c)).is_some() {}
        let end = self.position();
        Kind::Bare(self.source[start..end].to_owned())
    }

    /// The rest of a quoted name. Graphviz's line breaks (`\n`, `\l` and `\r`) become `\n`; a backslash at
    /// the end of a line joins it with the next; any other escape is left to the label's grammar.
    fn quoted(&mut self, start: usize) -> Result<Text, SpannedMessage> {
        let mut text = Text::default();
        while let Some((position, c)) = self.chars.next() {
            match c {
                '"' => return Ok(text),
                '\\' => match self.chars.next() {
                    None => break,
                    Some((_, '\n')) => {}
                    Some((_, 'n' | 'l' | 'r')) => text.0.push((position, '\n')),
                    Some((_, escaped @ ('"' | '\\'))) => text.0.push((position, escaped)),
                    Some((next, other)) => text.0.extend([(position, '\\'), (next, other)]),
                },
                c => text.0.push((position, c)),
            }
        }
        Err(SpannedMessage::new(start..start + 1, "this name has no end; close it with `\"`"))
    }

    fn html(&mut self, start: usize) -> Result<Kind, SpannedMessage> {
        let mut depth = 1_usize;
        for (_, c) in self.chars.by_ref() {
            match c {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(Kind::Html);
            }
        }
        Err(SpannedMessage::new(start..start + 1, "this markup has no end; close it with `>`"))
    }
}

/// A character of names without quotes; wider than DOT's own (`q.0`, `naïve`).
fn is_bare(c: char) -> bool {
    c.is_alphanumeric()
        || c == '_'
        || c == '.'
        || (!c.is_ascii() && !c.is_whitespace() && !c.is_control())
}
