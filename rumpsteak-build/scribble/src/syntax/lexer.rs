//! Source text to tokens.
//!
//! Comments are `// …`, `/* … */` (flat), `(* … *)` (nested) and `(*) …` to the end of the line. A
//! byte-order mark and every kind of white space are skipped. An identifier is made of letters,
//! digits and `_`, then also `'`; it may start with a digit, since labels such as `200` or `2a` are
//! common. No word is reserved here. Characters that belong to no token are reported, once for each
//! run of them, and left out.

use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::{SourceId, Span};
use crate::diagnostics::syntax_errors;
use crate::index::index;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A letter, a digit or `_`, then also `'`.
    Identifier,
    /// `"…"`, quotes included.
    String,
    /// One of the punctuation characters of the grammar.
    Punct(u8),
    /// An operator of a refinement, one character each. The grammar skips over them.
    Operator,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The tokens of `text`, which is shorter than 4 GiB. The last one is always [`TokenKind::End`].
pub(super) fn lex(text: &str, source: SourceId, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        source,
        // Four bytes a token is a dense text.
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
                b'/' if next == Some(b'*') => self.block_comment(),
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
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\'' {
                self.at += 1;
            } else if byte.is_ascii() {
                break;
            } else {
                match self.text[self.at..].chars().next() {
                    Some(letter) if letter.is_alphanumeric() => self.at += letter.len_utf8(),
                    _ => break,
                }
            }
        }
        self.push(TokenKind::Identifier, start);
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    fn block_comment(&mut self) {
        match self.text[self.at + 2..].find("*/") {
            Some(length) => self.at += length + 4,
            None => self.open_comment("*/"),
        }
    }

    fn nested_comment(&mut self) {
        if self.bytes.get(self.at + 2) == Some(&b')') {
            return self.line_comment();
        }
        let mut depth = 1_usize;
        let mut at = self.at + 2;
        while let Some(&byte) = self.bytes.get(at) {
            match (byte, self.bytes.get(at + 1)) {
                (b'(', Some(b'*')) => {
                    depth += 1;
                    at += 2;
                }
                (b'*', Some(b')')) => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        self.at = at;
                        return;
                    }
                }
                _ => at += 1,
            }
        }
        self.open_comment("*)");
    }

    /// The comment that starts here has no end: report it and take the rest of the text for it.
    fn open_comment(&mut self, end: &str) {
        let span = self.span(self.at, self.at + 2);
        self.diagnostics.push(syntax_errors::open_comment(span, end));
        self.at = self.bytes.len();
    }

    fn string(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start + 1..];
        match rest.iter().position(|&byte| matches!(byte, b'"' | b'\n')) {
            Some(length) if rest[length] == b'"' => {
                self.at = start + length + 2;
                self.push(TokenKind::String, start);
            }
            length => {
                // The string ends where its line does, so that one missing quote is one error.
                let end = start + 1 + length.unwrap_or(rest.len());
                self.diagnostics.push(syntax_errors::open_string(self.span(start, start + 1)));
                self.at = end;
                self.push(TokenKind::String, start);
            }
        }
    }

    /// A character outside ASCII, or one without a meaning: a letter starts an identifier, white
    /// space is skipped, and everything up to the next character with a meaning is one error.
    fn other(&mut self) {
        let start = self.at;
        for (offset, character) in self.text[start..].char_indices() {
            let known = character.is_alphanumeric()
                || character.is_whitespace()
                || (character.is_ascii_graphic()
                    && !matches!(character, '!' | '#'..='%' | '?' | '\\' | '^' | '`' | '~' | '\''));
            if known {
                if offset == 0 {
                    if character.is_whitespace() {
                        self.at += character.len_utf8();
                    } else {
                        self.identifier();
                    }
                    return;
                }
                self.at = start + offset;
                break;
            }
            self.at = start + offset + character.len_utf8();
        }
        let span = self.span(start, self.at);
        let text = &self.text[start..self.at];
        self.diagnostics.push(syntax_errors::unknown_characters(span, text));
    }
}
