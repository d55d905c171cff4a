//! A position in the tokens of a text, and the errors so far.

use std::fmt;

use super::lexer::{Token, TokenKind};
use crate::diagnostics::{Code, Construct, Diagnostic, Name, SourceId, Span, syntax_errors};
use crate::similar;

/// The rest of the statement or declaration cannot be read; the error is reported.
#[derive(Debug)]
pub(super) struct Failed;

pub(super) type Result<T> = std::result::Result<T, Failed>;

pub(super) struct Cursor<'a> {
    text: &'a str,
    source: SourceId,
    tokens: &'a [Token],
    /// The position of the next token, always inside `tokens`.
    at: usize,
    /// The errors of the lexer, in order.
    lexical: &'a [Diagnostic],
    /// The token of the last error.
    blamed: Option<usize>,
    /// The constructs of other dialects that are reported.
    said: Vec<Construct>,
    /// True if one of them was found since this was set to false.
    pub(super) is_dialect: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Cursor<'a> {
    /// The start of a text with these tokens; `lexical` are the errors of the lexer.
    pub(super) fn new(
        text: &'a str,
        source: SourceId,
        tokens: &'a [Token],
        lexical: &'a [Diagnostic],
    ) -> Self {
        let (said, is_dialect, diagnostics) = (Vec::new(), false, Vec::new());
        Self { text, source, tokens, at: 0, lexical, blamed: None, said, is_dialect, diagnostics }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn token(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    pub(super) fn kind_at(&self, ahead: usize) -> TokenKind {
        self.token(ahead).kind
    }

    pub(super) fn text_at(&self, ahead: usize) -> &'a str {
        let token = self.token(ahead);
        &self.text[token.start as usize..token.end as usize]
    }

    /// The text of the next token if it is a word, or else an empty text.
    pub(super) fn word(&self) -> &'a str {
        if self.kind() == TokenKind::Identifier { self.text_at(0) } else { "" }
    }

    pub(super) fn before(&self) -> Option<(TokenKind, &'a str)> {
        let token = self.tokens[self.at.checked_sub(1)?];
        Some((token.kind, &self.text[token.start as usize..token.end as usize]))
    }

    pub(super) fn is(&self, punct: u8) -> bool {
        self.is_at(0, punct)
    }

    pub(super) fn is_at(&self, ahead: usize, punct: u8) -> bool {
        self.kind_at(ahead) == TokenKind::Punct(punct)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    pub(super) fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        self.kind_at(ahead) == TokenKind::Identifier && self.text_at(ahead) == word
    }

    pub(super) fn span_of(&self, at: usize) -> Span {
        let token = self.tokens[at];
        Span::new(self.source, token.start, token.end)
    }

    /// From the token at `start` to the last one taken.
    pub(super) fn span_from(&self, start: usize) -> Span {
        self.span_of(start).to(self.span_of(self.at.saturating_sub(1).max(start)))
    }

    /// The text from the token at `start` to the last one taken, with single blanks.
    pub(super) fn text_from(&self, start: usize) -> Name {
        let span = self.span_from(start);
        let words: Vec<&str> = self.text[span.range()].split_whitespace().collect();
        Name { text: words.join(" ").into(), span }
    }

    pub(super) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(super) fn take(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: u8) -> Result<()> {
        let found = self.take(punct);
        self.require(found, format_args!("`{}`", char::from(punct)))
    }

    /// Takes a word. Reports a typo in it, and reads on behind the typo.
    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) {
            return Ok(());
        }
        let failed = self.unexpected(&format!("`{word}`"));
        let goes_on = self.kind_at(1) == TokenKind::Identifier || self.is_at(1, b'{');
        if !goes_on || similar(self.word(), &[word]).is_none() {
            return Err(failed);
        }
        self.advance();
        Ok(())
    }

    /// Requires that `{` comes next. Does not take it.
    pub(super) fn expect_block(&mut self) -> Result<()> {
        self.require(self.is(b'{'), "`{`")
    }

    fn require(&mut self, found: bool, expected: impl fmt::Display) -> Result<()> {
        if found { Ok(()) } else { Err(self.unexpected(&expected.to_string())) }
    }

    /// Takes a name; `what` describes it if it is missing.
    pub(super) fn name(&mut self, what: &str) -> Result<Name> {
        self.require(self.kind() == TokenKind::Identifier, what)?;
        let name = Name { text: self.text_at(0).into(), span: self.span_of(self.at) };
        self.advance();
        Ok(name)
    }

    /// Takes the name of a role. Reports an index, `worker[1..N]` or `W(k)`, once.
    pub(super) fn role(&mut self, what: &str) -> Result<Name> {
        let name = self.name(what)?;
        self.index();
        Ok(name)
    }

    /// Skips and reports an index behind the name of a role.
    pub(super) fn index(&mut self) {
        // `(Int) from A` is the next message, behind a missing `;`.
        let is_index = self.is(b'(') && self.is_at(2, b')') && !self.is_word_at(3, "from");
        if self.is(b'[') || is_index {
            self.skip_brackets(Construct::FAMILY);
        }
    }

    /// Skips a pair of brackets, which belong to a construct that is reported once.
    pub(super) fn skip_brackets(&mut self, construct: Construct) {
        let start = self.at;
        self.skip_balanced();
        self.unsupported_once(construct, start);
    }

    /// Takes `a.b.C`, and drops white space around the dots.
    pub(super) fn qualified(&mut self, what: &str) -> Result<Name> {
        let mut name = self.name(what)?;
        if self.is(b'.') {
            let mut text = name.text.to_string();
            while self.take(b'.') {
                let part = self.name("a name")?;
                text.push('.');
                text.push_str(part.as_str());
                name.span = name.span.to(part.span);
            }
            name.text = text.into();
        }
        Ok(name)
    }

    /// Takes a string; the name has no quotes.
    pub(super) fn string(&mut self) -> Result<Name> {
        self.require(self.kind() == TokenKind::String, "a name in double quotes")?;
        let (text, span) = (self.text_at(0).trim_matches('"').into(), self.span_of(self.at));
        self.advance();
        Ok(Name { text, span })
    }

    /// Takes `word`, if it comes next, and what `read` reads behind it.
    pub(super) fn after_word<T>(
        &mut self,
        word: &str,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        self.take_word(word).then(|| read(self)).transpose()
    }

    /// Takes any number of `@"text"`.
    pub(super) fn annotations(&mut self) -> Result<Vec<Name>> {
        let mut annotations = Vec::new();
        while self.take(b'@') {
            annotations.push(self.string()?);
        }
        Ok(annotations)
    }

    /// Takes `element, element` up to and including `close`.
    pub(super) fn list<T>(
        &mut self,
        close: u8,
        element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        if self.take(close) {
            return Ok(Vec::new());
        }
        let elements = self.several(element)?;
        let is_closed = self.take(close);
        self.require(is_closed, format_args!("`,` or `{}`", char::from(close)))?;
        Ok(elements)
    }

    /// Takes `element, element`: at least one.
    pub(super) fn several<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut elements = vec![element(self)?];
        while self.take(b',') {
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    /// Skips a pair of brackets and everything inside it.
    pub(super) fn skip_balanced(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::Punct(b'{' | b'(' | b'[') => depth += 1,
                TokenKind::Punct(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips a Rust type, up to the `,` or `)` behind it.
    pub(super) fn skip_type(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                TokenKind::End | TokenKind::Punct(b'{' | b'}') => return,
                TokenKind::Punct(b',' | b')' | b';') if depth == 0 => return,
                TokenKind::Punct(b'<' | b'(' | b'[') => depth += 1,
                TokenKind::Punct(b'>' | b')' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.advance();
        }
    }

    /// True if a word with brackets and a block comes next: `foreach (i:1..N) {`.
    pub(super) fn heads_block(&self) -> bool {
        /// Bounds the cost of each word.
        const LONGEST: usize = 64;
        let close = (1..LONGEST).find(|&ahead| self.is_at(ahead, b')'));
        close.is_some_and(|close| self.is_at(1, b'(') && self.is_at(close + 1, b'{'))
    }

    /// Skips a heading up to its `{`.
    pub(super) fn skip_to_block(&mut self) -> Result<()> {
        while !matches!(self.kind(), TokenKind::End | TokenKind::Punct(b'{' | b'}')) {
            self.advance();
        }
        self.expect_block()
    }

    /// Reports the next token, unless it is reported already.
    pub(super) fn unexpected(&mut self, expected: &str) -> Failed {
        self.unexpected_with(expected, None)
    }

    /// As [`unexpected`](Self::unexpected), with advice.
    pub(super) fn unexpected_with(&mut self, expected: &str, help: Option<String>) -> Failed {
        if self.blamed != Some(self.at) && !self.follows_lexical_error() {
            self.blamed = Some(self.at);
            // `to all workers`, or a typo
            let is_like = |(_, word): (_, &str)| {
                ["all", "every"].contains(&word) || similar(word, &["each", "some"]).is_some()
            };
            let is_name = self.kind() == TokenKind::Identifier;
            let is_each = is_name && self.before().is_some_and(is_like);
            let expected = if is_each { "`each` or `some`" } else { expected };
            let at = self.at - usize::from(is_each);
            let span = self.span_of(at);
            let found = Some(&self.text[span.range()]).filter(|found| !found.is_empty());
            // A missing `;` or `)` belongs behind the token before.
            let before = at.checked_sub(1).map(|before| self.span_of(before));
            let mut error = syntax_errors::unexpected(span, found, expected, before);
            let is_comma = self.before().is_some_and(|(_, text)| text == ",")
                && [b')', b'>', b';'].iter().any(|&end| self.is(end));
            let advice = is_comma.then(|| "remove the comma".to_owned());
            error.help = help.or(advice).or(error.help);
            self.diagnostics.push(error);
        }
        Failed
    }

    /// Reports that the block of the `{` at `brace` is not closed before the next token. Reports
    /// only one such block at the end of the text.
    pub(super) fn open_block(&mut self, brace: usize) {
        if self.kind() != TokenKind::End || self.blamed.replace(self.at) != Some(self.at) {
            let error = syntax_errors::open_block(self.span_of(self.at), self.span_of(brace));
            self.diagnostics.push(error);
        }
    }

    /// Reports a construct that reaches from the token at `start` to the last one taken.
    pub(super) fn unsupported(&mut self, construct: Construct, start: usize) {
        self.diagnostics.push(syntax_errors::unsupported(construct, self.span_from(start)));
    }

    /// As [`unsupported`](Self::unsupported), for a construct that a file of its dialect repeats.
    pub(super) fn unsupported_once(&mut self, construct: Construct, start: usize) {
        self.is_dialect = true;
        if !self.said.contains(&construct) {
            self.said.push(construct);
            self.unsupported(construct, start);
        }
    }

    /// True if the lexer has reported an error right before this token, which may be the missing
    /// text. An open string spoils its whole line.
    fn follows_lexical_error(&self) -> bool {
        /// Bounds the cost of each error.
        const LONGEST_LINE: usize = 1_000;
        // From the start of the token before: it may be an open string.
        let after = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].start as usize);
        let here = self.tokens[self.at].start as usize;
        let next = self.lexical.partition_point(|error| error.primary.start() < after);
        self.lexical.get(next).is_some_and(|error| {
            let start = error.primary.start();
            start < here
                || error.code == Code::OpenString
                    && start - here < LONGEST_LINE
                    && !self.text.as_bytes()[here..start].contains(&b'\n')
        })
    }
}
