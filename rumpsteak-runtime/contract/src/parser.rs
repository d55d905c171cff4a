//! A cursor over flattened tokens, and the pieces that the grammars of [`session`](crate::session) and
//! [`role`](crate::role) share.

use std::fmt;

use crate::error::{Error, Result};
use crate::token::{Delimiter, Ident, Span, Token, TokenKind};

/// A path without generic arguments, as the user wrote it: `S`, `self::roles::S`, `::protocols::S`.
#[derive(Clone, Debug)]
pub struct Path {
    /// Whether the path begins with `::`.
    pub leading_colon: bool,
    /// The segments, at least one. `crate`, `self`, `super` and `Self` are segments as others are.
    pub segments: Vec<Ident>,
    /// The index of the path's first token in the item.
    pub token: usize,
}

impl Path {
    /// The last segment.
    #[must_use]
    pub fn last(&self) -> &Ident {
        // The parser is the only one to make paths, and it makes none without a segment.
        &self.segments[self.segments.len() - 1]
    }

    /// The identifier that the whole path consists of, if it does.
    #[must_use]
    pub fn as_ident(&self) -> Option<&Ident> {
        match &self.segments[..] {
            [ident] if !self.leading_colon => Some(ident),
            _ => None,
        }
    }

    /// Where the last segment stands: the token that a message about the path should point at.
    #[must_use]
    pub fn span(&self) -> Span {
        self.last().span()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments.iter().enumerate() {
            if index > 0 || self.leading_colon {
                f.write_str("::")?;
            }
            segment.fmt(f)?;
        }
        Ok(())
    }
}

/// A cursor over the tokens of one item.
#[derive(Clone)]
pub(crate) struct Parser<'s, 'a> {
    tokens: &'s [Token<'a>],
    next: usize,
}

impl<'s, 'a> Parser<'s, 'a> {
    pub(crate) fn new(tokens: &'s [Token<'a>]) -> Self {
        Self { tokens, next: 0 }
    }

    /// The index of the next token.
    pub(crate) fn index(&self) -> usize {
        self.next
    }

    pub(crate) fn at_end(&self) -> bool {
        self.next == self.tokens.len()
    }

    /// An error at the next token, or at the last one where nothing follows.
    pub(crate) fn error(&self, message: impl fmt::Display) -> Error {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        Error::new(
            token.map_or_else(Span::default, |token| token.span),
            message,
        )
    }

    fn peek(&self) -> Option<TokenKind<'a>> {
        self.tokens.get(self.next).map(|token| token.kind)
    }

    /// Whether the next token is this identifier or keyword.
    pub(crate) fn at_ident(&self, text: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Ident(ident)) if ident == text)
    }

    pub(crate) fn at_punct(&self, punct: char) -> bool {
        matches!(self.peek(), Some(TokenKind::Punct(other, _)) if other == punct)
    }

    pub(crate) fn at_open(&self, delimiter: Delimiter) -> bool {
        matches!(self.peek(), Some(TokenKind::Open(other)) if other == delimiter)
    }

    pub(crate) fn at_close(&self) -> bool {
        matches!(self.peek(), Some(TokenKind::Close(_)))
    }

    /// Steps over the next token and returns it.
    pub(crate) fn bump(&mut self) -> Option<&'s Token<'a>> {
        let token = self.tokens.get(self.next)?;
        self.next += 1;
        Some(token)
    }

    pub(crate) fn eat_ident(&mut self, text: &str) -> bool {
        let found = self.at_ident(text);
        self.next += usize::from(found);
        found
    }

    pub(crate) fn eat_punct(&mut self, punct: char) -> bool {
        let found = self.at_punct(punct);
        self.next += usize::from(found);
        found
    }

    pub(crate) fn eat_open(&mut self, delimiter: Delimiter) -> bool {
        let found = self.at_open(delimiter);
        self.next += usize::from(found);
        found
    }

    /// Expects punctuation, or fails with the message.
    pub(crate) fn punct(&mut self, punct: char, message: impl fmt::Display) -> Result<()> {
        if self.eat_punct(punct) {
            Ok(())
        } else {
            Err(self.error(message))
        }
    }

    /// Expects the opening half of a group, or fails with the message.
    pub(crate) fn open(&mut self, delimiter: Delimiter, message: impl fmt::Display) -> Result<()> {
        if self.eat_open(delimiter) {
            Ok(())
        } else {
            Err(self.error(message))
        }
    }

    /// Expects the closing half of a group, or fails with the message.
    pub(crate) fn close(&mut self, message: impl fmt::Display) -> Result<()> {
        if !self.at_close() {
            return Err(self.error(message));
        }
        self.next += 1;
        Ok(())
    }

    /// Expects an identifier, or fails with the message.
    pub(crate) fn ident(&mut self, message: impl fmt::Display) -> Result<Ident> {
        match self.tokens.get(self.next) {
            Some(Token {
                kind: TokenKind::Ident(text),
                span,
                ..
            }) => {
                self.next += 1;
                Ok(Ident::new(text, *span))
            }
            _ => Err(self.error(message)),
        }
    }

    /// Expects a string literal and returns its value, or fails with the message. No escapes: names need none.
    pub(crate) fn string(&mut self, message: impl fmt::Display) -> Result<String> {
        if let Some(TokenKind::Literal(literal)) = self.peek()
            && let Some(text) = literal
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'))
            && !text.contains('\\')
        {
            self.next += 1;
            return Ok(text.to_owned());
        }
        Err(self.error(message))
    }

    /// Whether the next two tokens are `::`.
    pub(crate) fn at_path_separator(&self) -> bool {
        matches!(
            self.tokens.get(self.next..self.next + 2),
            Some([
                Token {
                    kind: TokenKind::Punct(':', true),
                    ..
                },
                Token {
                    kind: TokenKind::Punct(':', _),
                    ..
                }
            ])
        )
    }

    /// Expects a path without generic arguments, or fails with the message.
    pub(crate) fn path(&mut self, message: impl fmt::Display) -> Result<Path> {
        let token = self.next;
        let leading_colon = self.at_path_separator();
        if leading_colon {
            self.next += 2;
        }
        let mut segments = vec![self.ident(&message)?];
        while self.at_path_separator() {
            self.next += 2;
            segments.push(self.ident("a path goes on with a name after `::`")?);
        }
        Ok(Path {
            leading_colon,
            segments,
            token,
        })
    }

    /// Steps over a visibility (`pub`, `pub(crate)`, `pub(in path)`) and says whether there was one.
    pub(crate) fn visibility(&mut self) -> bool {
        let start = self.next;
        if self.eat_ident("pub") && self.at_open(Delimiter::Parenthesis) {
            // `struct S(pub (A, B));` has a parenthesis after `pub` that is none of the visibility's.
            let inner = self.tokens.get(self.next + 1).and_then(Token::as_ident);
            let restricted = matches!(inner, Some("crate" | "self" | "super" | "in"));
            if restricted {
                self.skip_group();
            }
        }
        self.next > start
    }

    /// Steps over a whole group, if one begins here.
    pub(crate) fn skip_group(&mut self) {
        let mut depth = 0_usize;
        while let Some(kind) = self.peek() {
            match kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) if depth <= 1 => {
                    self.next += usize::from(depth == 1);
                    return;
                }
                TokenKind::Close(_) => depth -= 1,
                _ if depth == 0 => return,
                _ => {}
            }
            self.next += 1;
        }
    }

    /// Steps over a type, or anything else, up to a `,` or `;` outside all brackets or the end of the enclosing group,
    /// and returns its tokens.
    pub(crate) fn until_comma(&mut self) -> &'s [Token<'a>] {
        let start = self.next;
        let mut angles = 0_usize;
        let mut arrow = false;
        while let Some(kind) = self.peek() {
            match kind {
                TokenKind::Close(_) => break,
                TokenKind::Punct(',' | ';', _) if angles == 0 => break,
                TokenKind::Open(_) => {
                    self.skip_group();
                    arrow = false;
                    continue;
                }
                TokenKind::Punct('<', _) => angles += 1,
                // Not the `>` of `->`.
                TokenKind::Punct('>', _) if !arrow => angles = angles.saturating_sub(1),
                _ => {}
            }
            arrow = matches!(kind, TokenKind::Punct('-', true));
            self.next += 1;
        }
        &self.tokens[start..self.next]
    }
}
