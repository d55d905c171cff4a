//! An item as a flat list of numbered tokens.
//!
//! A verdict must name a place in the user's source that the macro can find again. Lines and columns will not do:
//! rust-analyzer gives macros none. Both sides therefore number the tokens of the item:
//!
//! ```text
//! #[session(K)] pub type Kernel = Send < S , Ready , End > ;
//! ```
//! ```text
//! ( K )  pub type Kernel  =  Send  <  S  ,  Ready  ,  End  >  ;
//! 0 1 2  3   4    5       6  7     8  9  10 11     12 13   14 15
//! ```
//!
//! The list is *canonical*: it is the same whether the tokens come from a file or from rustc.
//!
//! * A group counts as its two delimiters with its content between them; the invisible groups that `macro_rules!`
//!   puts around its fragments count for nothing.
//! * A punctuation token is one character, so `>>` is two tokens.
//! * Attributes are dropped, because rustc and the other attribute macros remove some of them on the way, and because
//!   doc comments reach a macro as attributes. Only those whose name the caller asks for are kept.
//! * The arguments of the macro come first, in parentheses: they are part of what was verified.
//!
//! The tokens borrow the text that they were read from: a file, which [`lex`](crate::lex) cuts into tokens, or, with the
//! feature `quote`, what rustc gave to a macro (`Input`). Their [`Span`]s are places in that text.
//!
//! [`hash`] condenses the list to the 64 bits that guard a verdict: tokens that differ in any way find no verdict.

use std::fmt;

/// The brackets of a group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Delimiter {
    /// `{ … }`
    Brace,
    /// `[ … ]`
    Bracket,
    /// `( … )`
    Parenthesis,
}

impl Delimiter {
    /// The opening bracket.
    #[must_use]
    pub const fn open(self) -> &'static str {
        match self {
            Self::Brace => "{",
            Self::Bracket => "[",
            Self::Parenthesis => "(",
        }
    }

    /// The closing bracket.
    #[must_use]
    pub const fn close(self) -> &'static str {
        match self {
            Self::Brace => "}",
            Self::Bracket => "]",
            Self::Parenthesis => ")",
        }
    }
}

/// A place: bytes of a text, or what rustc told a macro.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// The offset of the first byte in the text; 0 for what no text has.
    pub start: usize,
    /// The offset behind the last byte.
    pub end: usize,
    /// The line of the first byte, from 1; 0 for what no text has.
    pub line: usize,
    /// The place as rustc knows it.
    #[cfg(feature = "quote")]
    pub(crate) rustc: Option<proc_macro2::Span>,
}

impl Span {
    pub(crate) fn of(start: usize, end: usize, line: usize) -> Self {
        Self {
            start,
            end,
            line,
            #[cfg(feature = "quote")]
            rustc: None,
        }
    }
}

/// An identifier as written, `r#` included.
#[derive(Clone, Debug)]
pub struct Ident {
    text: String,
    span: Span,
}

impl Ident {
    pub(crate) fn new(text: &str, span: Span) -> Self {
        let text = text.to_owned();
        Self { text, span }
    }

    /// The identifier as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name that it stands for: without `r#`.
    #[must_use]
    pub fn unraw(&self) -> &str {
        self.text.strip_prefix("r#").unwrap_or(&self.text)
    }

    /// Where it stands.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The texts are equal, wherever they stand.
impl PartialEq for Ident {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Ident {}

impl PartialEq<str> for Ident {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Ident {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// What the token is.
    pub kind: TokenKind<'a>,
    /// Where it stands.
    pub span: Span,
    /// How many tokens the tree has that begins here: those of a group for its opening bracket, 1 for every other token.
    /// In a list from which tokens were taken out, the number of before.
    pub(crate) tree: usize,
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TokenKind<'a> {
    /// The closing half of a group.
    Close(Delimiter),
    /// An identifier or a keyword.
    Ident(&'a str),
    /// A literal, as written.
    Literal(&'a str),
    /// The opening half of a group.
    Open(Delimiter),
    /// One character of punctuation. The flag says whether another one follows without a blank: `:` in `::`.
    Punct(char, bool),
}

impl<'a> Token<'a> {
    /// The text of the identifier, if the token is one.
    #[must_use]
    pub fn as_ident(&self) -> Option<&'a str> {
        match self.kind {
            TokenKind::Ident(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the token is this punctuation.
    #[must_use]
    pub fn is_punct(&self, punct: char) -> bool {
        matches!(self.kind, TokenKind::Punct(other, _) if other == punct)
    }

    /// Whether the token opens a group with these brackets.
    #[must_use]
    pub fn opens(&self, delimiter: Delimiter) -> bool {
        self.kind == TokenKind::Open(delimiter)
    }
}

/// Cuts tokens as they were read into trees: each is one token, or a group with its brackets.
pub fn trees<'s, 'a>(mut tokens: &'s [Token<'a>]) -> impl Iterator<Item = &'s [Token<'a>]> {
    std::iter::from_fn(move || {
        let (tree, rest) = tokens.split_at(tree_len(tokens));
        tokens = rest;
        (!tree.is_empty()).then_some(tree)
    })
}

/// How many tokens the first tree has of tokens as they were read; 0 if there is none.
#[must_use]
pub fn tree_len(tokens: &[Token<'_>]) -> usize {
    match tokens {
        [first, ..] => first.tree.min(tokens.len()),
        [] => 0,
    }
}

/// The content of a group that [`trees`] gave.
#[must_use]
pub fn content<'s, 'a>(group: &'s [Token<'a>]) -> &'s [Token<'a>] {
    match group {
        [_, content @ .., last] if matches!(last.kind, TokenKind::Close(_)) => content,
        [_, content @ ..] => content,
        [] => group,
    }
}

/// Appends `#[…]` with this content, as `#[cfg_attr(…)]` makes it. It stands where the content begins.
pub fn push_attribute<'a>(tokens: &mut Vec<Token<'a>>, content: &[Token<'a>]) {
    let span = content
        .first()
        .map_or_else(Span::default, |first| first.span);
    let mut push = |kind, tree| tokens.push(Token { kind, span, tree });
    push(TokenKind::Punct('#', false), 1);
    push(TokenKind::Open(Delimiter::Bracket), content.len() + 2);
    tokens.extend_from_slice(content);
    let (kind, tree) = (TokenKind::Close(Delimiter::Bracket), 1);
    tokens.push(Token { kind, span, tree });
}

/// An attribute that was left out of the list of tokens.
#[derive(Clone, Copy, Debug)]
pub struct Dropped<'a> {
    /// The index of the token before which the attribute stood.
    pub before: usize,
    /// The last segment of the attribute's path: `doc`, `cfg`, `inline`.
    pub name: &'a str,
    /// Where its `#` stands.
    pub span: Span,
}

/// Tokens without attributes.
#[derive(Clone, Debug, Default)]
pub struct Flat<'a> {
    /// The tokens in order.
    pub tokens: Vec<Token<'a>>,
    /// The attributes that were left out, in order.
    pub dropped: Vec<Dropped<'a>>,
}

impl<'a> Flat<'a> {
    /// Takes tokens, keeping of their attributes only those named in `keep`.
    ///
    /// Linear in the number of tokens.
    #[must_use]
    pub fn new(tokens: &[Token<'a>], keep: &[&str]) -> Self {
        let mut flat = Self::default();
        flat.extend(tokens, keep);
        flat
    }

    /// Takes the arguments of an attribute, in parentheses, and then the item that it stands on.
    #[must_use]
    pub fn of_attribute(arguments: &[Token<'a>], item: &[Token<'a>]) -> Self {
        let mut flat = Self::default();
        let span = Span::default();
        let tree = 1;
        let bracket = |kind| Token { kind, span, tree };
        flat.tokens.reserve(2 + arguments.len() + item.len());
        flat.tokens
            .push(bracket(TokenKind::Open(Delimiter::Parenthesis)));
        flat.extend(arguments, &[]);
        flat.tokens
            .push(bracket(TokenKind::Close(Delimiter::Parenthesis)));
        flat.extend(item, &[]);
        flat
    }

    fn extend(&mut self, tokens: &[Token<'a>], keep: &[&str]) {
        self.tokens.reserve(tokens.len());
        let mut next = 0;
        while next < tokens.len() {
            let token = &tokens[next];
            if token.is_punct('#')
                && next + 1 < tokens.len()
                && tokens[next + 1].opens(Delimiter::Bracket)
            {
                let body = &tokens[next + 1..];
                let name = attribute_name(&body[1..]);
                if !keep.contains(&name) {
                    let before = self.tokens.len();
                    let span = token.span;
                    self.dropped.push(Dropped { before, name, span });
                    next += 1 + tree_len(body);
                    continue;
                }
            }
            self.tokens.push(*token);
            next += 1;
        }
    }
}

/// The last segment of the path with which the content of an attribute begins, or nothing.
fn attribute_name<'a>(content: &[Token<'a>]) -> &'a str {
    let mut name = "";
    for token in content {
        match token.kind {
            TokenKind::Ident(ident) => name = ident,
            TokenKind::Punct(':', _) => {}
            _ => break,
        }
    }
    name
}

/// A type without blanks and without the modules before each name, so that `std::vec::Vec < u8 >` is `Vec<u8>`.
#[must_use]
pub fn type_text(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    // Where the name begins that the text ends with, but for colons, and how many of these there are.
    let (mut name, mut colons) = (None, 0);
    for token in tokens {
        match token.kind {
            TokenKind::Ident(ident) => {
                if colons >= 2 {
                    text.truncate(text.len() - 2);
                    text.truncate(name.unwrap_or(text.len()));
                }
                (name, colons) = (Some(text.len()), 0);
                // A blank between words, as in `dyn Fn` and `&'a mut T`.
                if text.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    text.push(' ');
                }
                text.push_str(ident);
                continue;
            }
            TokenKind::Punct(':', _) => {
                text.push(':');
                colons += 1;
                continue;
            }
            TokenKind::Close(delimiter) => text.push_str(delimiter.close()),
            TokenKind::Literal(literal) => text.push_str(literal),
            TokenKind::Open(delimiter) => text.push_str(delimiter.open()),
            TokenKind::Punct(punct, _) => text.push(punct),
        }
        (name, colons) = (None, 0);
    }
    text
}

/// The places of the canonical tokens of an item, with the hash of the tokens themselves.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    hash: u64,
    spans: Vec<Span>,
}

impl Key {
    pub(crate) fn of(tokens: &[Token<'_>]) -> Self {
        let mut spans = Vec::with_capacity(tokens.len());
        for token in tokens {
            spans.push(token.span);
        }
        Self {
            hash: hash(tokens),
            spans,
        }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// The place of a token of an item, to report at; that of the item's name where there is no such token.
    pub(crate) fn span_of(&self, token: usize, name: &Ident) -> Span {
        self.spans
            .get(token)
            .copied()
            .unwrap_or_else(|| name.span())
    }
}

/// The 64-bit FNV-1a hash of a flattened item: the guard of a verdict.
///
/// Depends on the kinds and texts of the tokens alone, neither on blanks nor on spans, and is the same on every
/// platform. It guards against stale verdicts, not against forged ones: whoever can write into `OUT_DIR` is the build
/// itself.
#[must_use]
pub fn hash(tokens: &[Token<'_>]) -> u64 {
    let mut hasher = Hasher::new();
    for token in tokens {
        let mut character = [0; 4];
        let (kind, text) = match token.kind {
            TokenKind::Ident(ident) => (b'i', ident),
            TokenKind::Literal(literal) => (b'l', literal),
            TokenKind::Punct(punct, _) => (b'p', &*punct.encode_utf8(&mut character)),
            TokenKind::Open(delimiter) => (b'o', delimiter.open()),
            // The opening bracket: so it has always been.
            TokenKind::Close(delimiter) => (b'c', delimiter.open()),
        };
        hasher.byte(kind);
        hasher.text(text);
    }
    hasher.finish()
}

/// No UTF-8 text contains it.
const SEPARATOR: u8 = 0xff;

/// FNV-1a over texts, with a separator after each one that no UTF-8 text contains.
///
/// ```
/// use rumpsteak_contract::token::Hasher;
/// let of = |texts: &[&str]| {
///     let mut hasher = Hasher::new();
///     texts.iter().for_each(|text| hasher.text(text));
///     hasher.finish()
/// };
/// assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Hasher(u64);

impl Hasher {
    /// The hash of nothing: FNV's offset basis.
    #[must_use]
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // A build script is not optimised: an iterator would take twice as long.
        let (mut hash, mut next) = (self.0, 0);
        while next < bytes.len() {
            hash = (hash ^ bytes[next] as u64).wrapping_mul(0x0100_0000_01b3);
            next += 1;
        }
        self.0 = hash;
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
    }

    /// Adds a text and a separator.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.byte(SEPARATOR);
    }

    /// The hash of all that was added.
    #[must_use]
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Self::new()
    }
}
