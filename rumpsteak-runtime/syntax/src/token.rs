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
//! [`hash`] condenses the list to the 64 bits that guard a verdict: tokens that differ in any way find no verdict.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};

/// One token of a flattened item.
#[derive(Clone, Debug)]
pub struct Token {
    /// What the token is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of tokens of a flattened item.
#[derive(Clone, Debug)]
pub enum TokenKind {
    /// The closing half of a group.
    Close(Delimiter),
    /// An identifier or a keyword.
    Ident(Ident),
    /// A literal, as written.
    Literal(String),
    /// The opening half of a group.
    Open(Delimiter),
    /// One character of punctuation. The flag says whether another one follows without a blank: `:` in `::`.
    Punct(char, bool),
}

/// An attribute that was left out of the list of tokens.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// The index of the token before which the attribute stood.
    pub before: usize,
    /// The last segment of the attribute's path: `doc`, `cfg`, `inline`.
    pub name: String,
    /// The attribute itself, `#[…]`.
    pub tokens: TokenStream,
    /// Where its `#` stands.
    pub span: Span,
}

/// A flattened token stream.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    /// The tokens in order.
    pub tokens: Vec<Token>,
    /// The attributes that were left out, in order.
    pub dropped: Vec<Dropped>,
}

impl Flat {
    /// Flattens a stream, keeping of its attributes only those named in `keep`.
    ///
    /// Works on a stack of its own, so that the depth of nesting costs memory only. Linear in the number of tokens.
    #[must_use]
    pub fn new(stream: TokenStream, keep: &[&str]) -> Self {
        let mut flat = Self::default();
        flat.extend(stream, keep);
        flat
    }

    /// Flattens the arguments of an attribute, in parentheses, and then the item that it stands on.
    #[must_use]
    pub fn of_attribute(arguments: TokenStream, item: TokenStream) -> Self {
        let mut flat = Self::default();
        flat.push(TokenKind::Open(Delimiter::Parenthesis), Span::call_site());
        flat.extend(arguments, &[]);
        flat.push(TokenKind::Close(Delimiter::Parenthesis), Span::call_site());
        flat.extend(item, &[]);
        flat
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        self.tokens.push(Token { kind, span });
    }

    fn extend(&mut self, stream: TokenStream, keep: &[&str]) {
        let mut open = vec![(stream.into_iter().peekable(), None)];
        while let Some((trees, close)) = open.last_mut() {
            let Some(tree) = trees.next() else {
                if let Some((delimiter, span)) = close.take() {
                    self.push(TokenKind::Close(delimiter), span);
                }
                open.pop();
                continue;
            };
            match tree {
                TokenTree::Ident(ident) => {
                    let span = ident.span();
                    self.push(TokenKind::Ident(ident), span);
                }
                TokenTree::Literal(literal) => {
                    self.push(TokenKind::Literal(literal.to_string()), literal.span())
                }
                TokenTree::Punct(punct) => {
                    if punct.as_char() == '#'
                        && let Some(TokenTree::Group(group)) = trees.peek()
                        && group.delimiter() == Delimiter::Bracket
                    {
                        let name = attribute_name(group.stream());
                        if !keep.contains(&name.as_str()) {
                            let body = trees.next();
                            let span = punct.span();
                            let tokens =
                                [TokenTree::Punct(punct)].into_iter().chain(body).collect();
                            let before = self.tokens.len();
                            self.dropped.push(Dropped {
                                before,
                                name,
                                tokens,
                                span,
                            });
                            continue;
                        }
                    }
                    let joint = punct.spacing() == Spacing::Joint;
                    self.push(TokenKind::Punct(punct.as_char(), joint), punct.span());
                }
                TokenTree::Group(group) => {
                    let mut close = None;
                    if group.delimiter() != Delimiter::None {
                        self.push(TokenKind::Open(group.delimiter()), group.span_open());
                        close = Some((group.delimiter(), group.span_close()));
                    }
                    open.push((group.stream().into_iter().peekable(), close));
                }
            }
        }
    }
}

/// The last segment of the path with which the content of an attribute begins, or nothing.
fn attribute_name(content: TokenStream) -> String {
    let mut name = String::new();
    for tree in content {
        match tree {
            TokenTree::Ident(ident) => name = ident.to_string(),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            _ => break,
        }
    }
    name
}

/// The place of a token of an item, to report at; that of the item's name where there is no such token.
pub(crate) fn span_of(tokens: &[Token], token: usize, name: &Ident) -> Span {
    tokens
        .get(token)
        .map_or_else(|| name.span(), |token| token.span)
}

/// The 64-bit FNV-1a hash of a flattened item: the guard of a verdict.
///
/// Depends on the kinds and texts of the tokens alone, neither on blanks nor on spans, and is the same on every
/// platform. It guards against stale verdicts, not against forged ones: whoever can write into `OUT_DIR` is the build
/// itself.
#[must_use]
pub fn hash(tokens: &[Token]) -> u64 {
    let mut hasher = Hasher::new();
    for token in tokens {
        let mut character = [0; 4];
        let (kind, text) = match &token.kind {
            TokenKind::Ident(ident) => (b'i', &*ident.to_string()),
            TokenKind::Literal(literal) => (b'l', literal.as_str()),
            TokenKind::Punct(punct, _) => (b'p', &*punct.encode_utf8(&mut character)),
            TokenKind::Open(delimiter) => (b'o', delimiter_name(*delimiter)),
            TokenKind::Close(delimiter) => (b'c', delimiter_name(*delimiter)),
        };
        hasher.bytes(&[kind]);
        hasher.text(text);
    }
    hasher.finish()
}

const fn delimiter_name(delimiter: Delimiter) -> &'static str {
    match delimiter {
        Delimiter::Parenthesis => "(",
        Delimiter::Brace => "{",
        Delimiter::Bracket => "[",
        Delimiter::None => "",
    }
}

/// FNV-1a over texts, with a separator after each one that no UTF-8 text contains.
///
/// ```
/// use rumpsteak_syntax::token::Hasher;
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
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a text and a separator.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
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
