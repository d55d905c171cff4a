//! The lexer.
//!
//! Comments are `// …`, `/* … */` (flat), `(* … *)` (nested) and `(*) …` to the end of the line. A
//! byte-order mark and white space are skipped. An identifier consists of letters, digits and `_`,
//! and of `'` except at the beginning. It may start with a digit, since labels such as `200` or
//! `2a` are common. No word is reserved here. Each run of characters that belong to no token is
//! reported once, and skipped.

use rumpsteak_fsm::text::after_comment;

use crate::diagnostics::{Diagnostic, SourceId, Span, syntax_errors};
use crate::index::index;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Letters, digits, `_` and `'`.
    Identifier,
    /// `"…"`, quotes included.
    String,
    /// One of the punctuation characters of the grammar.
    Punct(u8),
    /// One character of an operator in a refinement. The parser skips it.
    Operator,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The tokens of `text`, which is shorter than 4 GiB. [`TokenKind::End`] is always the last one.
pub(super) fn lex(text: &str, source: SourceId, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        source,
        // Even in a dense text, a token has four bytes.
        tokens: Vec::with_capacity(text.len() / 4 + 1),
        diagnostics,
    };
    lexer.run();
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    source: SourceId,
    tokens: Vec<Token>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            let next = self.bytes.get(start + 1).copied();
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => self.at += 1,
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => self.identifier(),
                b'/' if next == Some(b'/') => self.line_comment(),
                b'/' if next == Some(b'*') => match self.text[start + 2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => self.open_comment("*/"),
                },
                b'(' if next == Some(b'*') => self.nested_comment(),
                b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'<' | b'>' | b',' | b';' | b':'
                | b'.' | b'@' => {
                    self.at += 1;
                    self.push(TokenKind::Punct(byte), start);
                }
                b'=' | b'&' | b'|' | b'+' | b'-' | b'*' | b'/' => {
                    self.at += 1;
                    self.push(TokenKind::Operator, start);
                }
                b'"' => self.string(),
                _ => self.other(),
            }
        }
        self.push(TokenKind::End, self.bytes.len());
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let (start, end) = (index(start), index(self.at));
        self.tokens.push(Token { kind, start, end });
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, index(start), index(end))
    }

    fn identifier(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '\'');
        self.at += rest.find(is_end).unwrap_or(rest.len());
        self.push(TokenKind::Identifier, start);
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    fn nested_comment(&mut self) {
        if self.bytes.get(self.at + 2) == Some(&b')') {
            return self.line_comment();
        }
        match after_comment(&self.text[self.at..], ["(*", "*)"]) {
            Some(rest) => self.at = self.text.len() - rest.len(),
            None => self.open_comment("*)"),
        }
    }

    /// Reports that the comment here has no end, and skips the rest of the text.
    fn open_comment(&mut self, end: &str) {
        self.diagnostics.push(syntax_errors::open_comment(self.span(self.at, self.at + 2), end));
        self.at = self.bytes.len();
    }

    fn string(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start + 1..];
        let length = rest.iter().position(|&byte| matches!(byte, b'"' | b'\n'));
        let length = length.unwrap_or(rest.len());
        self.at = start + 1 + length;
        if rest.get(length) == Some(&b'"') {
            self.at += 1;
        } else {
            // The string ends with its line, so that one missing quote is one error.
            self.diagnostics.push(syntax_errors::open_string(self.span(start, start + 1)));
        }
        self.push(TokenKind::String, start);
    }

    /// A character outside ASCII, or one without a meaning. A letter starts an identifier, and
    /// white space is skipped. Everything else up to the next character with a meaning is one
    /// error.
    fn other(&mut self) {
        let has_meaning = |c: char| {
            c.is_alphanumeric()
                || c.is_whitespace()
                || c.is_ascii_graphic()
                    && !matches!(c, '!' | '#'..='%' | '?' | '\\' | '^' | '`' | '~' | '\'')
        };
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.find(has_meaning).unwrap_or(rest.len());
        let white = rest.len() - rest.trim_start().len();
        self.at += length.max(white);
        if length > 0 {
            let span = self.span(start, self.at);
            self.diagnostics.push(syntax_errors::unknown_characters(span, &rest[..length]));
        } else if white == 0 {
            self.identifier();
        }
    }
}
