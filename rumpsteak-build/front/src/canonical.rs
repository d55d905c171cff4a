//! Canonical tokens: the form of an item that the build script and the macros number and hash
//! alike.
//!
//! A verdict must name a place in the user's source that the macro can find again. Lines and
//! columns will not do: rust-analyzer gives macros none. Both sides therefore number the tokens of
//! the item:
//!
//! ```text
//! #[session(K)] pub type Kernel = Send < S , Ready , End > ;
//! ```
//! ```text
//! ( K )  pub type Kernel  =  Send  <  S  ,  Ready  ,  End  >  ;
//! 0 1 2  3   4    5       6  7     8  9  10 11     12 13   14 15
//! ```
//!
//! The list is the same whether `proc-macro2` read the tokens from a file or rustc gave them to a
//! macro:
//!
//! * A group counts as its two delimiters with its content between them; the invisible groups that
//!   `macro_rules!` puts around its fragments count for nothing.
//! * A punctuation token is one character, so `>>` is two tokens.
//! * Attributes are dropped, because rustc and other attribute macros remove some of them on the
//!   way. Doc comments are attributes. Only those whose name the caller asks for are kept.
//! * The arguments of the macro come first, in parentheses: they are part of what was verified.
//!
//! The hash of the list guards a verdict: an item with other tokens finds no verdict.

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// A token of a flattened stream.
#[derive(Clone, Debug)]
pub enum Piece {
    /// The closing bracket of a group.
    Close(Group),
    /// The opening bracket of a group.
    Open(Group),
    /// Any other token: no group.
    Tree(TokenTree),
}

impl Piece {
    /// The place of the token.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Close(group) => group.span_close(),
            Self::Open(group) => group.span_open(),
            Self::Tree(tree) => tree.span(),
        }
    }

    /// Whether the token is this character.
    pub fn is_punct(&self, character: char) -> bool {
        matches!(self, Self::Tree(TokenTree::Punct(punct)) if punct.as_char() == character)
    }
}

/// The tokens of a stream from first to last, without recursion; invisible groups are no tokens.
#[derive(Clone, Debug)]
pub struct Pieces(Vec<(IntoIter, Option<Group>)>);

impl Pieces {
    /// The tokens of a stream.
    pub fn new(stream: TokenStream) -> Self {
        Self(vec![(stream.into_iter(), None)])
    }

    /// Leaves the group whose opening bracket was the last piece.
    fn leave(&mut self) {
        self.0.pop();
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            let (trees, _) = self.0.last_mut()?;
            match trees.next() {
                Some(TokenTree::Group(group)) => {
                    let content = group.stream().into_iter();
                    let visible = (group.delimiter() != Delimiter::None).then_some(group);
                    self.0.push((content, visible.clone()));
                    if let Some(group) = visible {
                        return Some(Piece::Open(group));
                    }
                }
                Some(tree) => return Some(Piece::Tree(tree)),
                None => {
                    if let Some((_, Some(group))) = self.0.pop() {
                        return Some(Piece::Close(group));
                    }
                }
            }
        }
    }
}

/// An attribute that was left out of the canonical tokens.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    /// The index of the token before which the attribute stood.
    pub(crate) before: usize,
    /// The last segment of the attribute's path: `doc`, `cfg`, `inline`.
    pub(crate) name: String,
    /// The attribute: `#` and its brackets.
    pub(crate) tokens: [TokenTree; 2],
}

/// The canonical tokens of an item.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    pub(crate) tokens: Vec<Piece>,
    /// The attributes that were left out, in order.
    pub(crate) dropped: Vec<Dropped>,
}

impl Canonical {
    /// Takes an item, keeping of its attributes only those named in `keep`.
    ///
    /// Linear in the number of tokens.
    pub(crate) fn new(item: TokenStream, keep: &[&str]) -> Self {
        let (mut tokens, mut dropped) = (Vec::<Piece>::new(), Vec::new());
        let mut pieces = Pieces::new(item);
        while let Some(piece) = pieces.next() {
            if let Piece::Open(group) = &piece
                && group.delimiter() == Delimiter::Bracket
                && let Some(Piece::Tree(mark)) = tokens.pop_if(|last| last.is_punct('#'))
            {
                let name = attribute_name(group.stream());
                if !keep.contains(&name.as_str()) {
                    pieces.leave();
                    dropped.push(Dropped {
                        before: tokens.len(),
                        name,
                        tokens: [mark, TokenTree::Group(group.clone())],
                    });
                    continue;
                }
                tokens.push(Piece::Tree(mark));
            }
            tokens.push(piece);
        }
        Self { tokens, dropped }
    }

    /// Takes the arguments of an attribute, in parentheses, and then the item that it stands on.
    pub(crate) fn of_attribute(arguments: TokenStream, item: TokenStream) -> Self {
        let arguments = Group::new(Delimiter::Parenthesis, arguments);
        let mut tokens = TokenStream::from(TokenTree::Group(arguments));
        tokens.extend(item);
        Self::new(tokens, &[])
    }

    /// The attributes that stood before a token, as they were written.
    pub(crate) fn attributes_before(&self, token: usize) -> TokenStream {
        let before = |dropped: &&Dropped| dropped.before == token;
        let dropped = self.dropped.iter().filter(before);
        dropped.flat_map(|dropped| dropped.tokens.clone()).collect()
    }

    /// The key of the item with this name.
    pub(crate) fn key(&self, name: &Ident) -> Key {
        let mut hasher = Hasher::new();
        for token in &self.tokens {
            match token {
                Piece::Close(group) => hasher.token(b'c', brackets(group.delimiter())[0]),
                Piece::Open(group) => hasher.token(b'o', brackets(group.delimiter())[0]),
                Piece::Tree(TokenTree::Ident(ident)) => hasher.token(b'i', &ident.to_string()),
                Piece::Tree(TokenTree::Punct(punct)) => {
                    hasher.token(b'p', punct.as_char().encode_utf8(&mut [0; 4]));
                }
                Piece::Tree(literal) => hasher.token(b'l', &literal.to_string()),
            }
        }
        Key {
            hash: hasher.finish(),
            name: name.span(),
            spans: self.tokens.iter().map(Piece::span).collect(),
        }
    }
}

/// The last segment of the path with which the content of an attribute begins; empty if there is
/// none.
fn attribute_name(content: TokenStream) -> String {
    let mut name = String::new();
    for piece in Pieces::new(content) {
        match piece {
            Piece::Tree(TokenTree::Ident(ident)) => name = ident.to_string(),
            piece if piece.is_punct(':') => {}
            _ => break,
        }
    }
    name
}

const fn brackets(delimiter: Delimiter) -> [&'static str; 2] {
    match delimiter {
        Delimiter::Brace => ["{", "}"],
        Delimiter::Bracket => ["[", "]"],
        Delimiter::None => ["", ""],
        Delimiter::Parenthesis => ["(", ")"],
    }
}

/// A type without blanks and without the modules before each name: `std::vec::Vec < u8 >` is
/// `Vec<u8>`.
pub fn type_text(tokens: TokenStream) -> String {
    type_text_with(tokens, &mut |_| None)
}

/// The same, where `meaning` may say what a path in the type stands for.
pub fn type_text_with(
    tokens: TokenStream,
    meaning: &mut dyn FnMut(&[Ident]) -> Option<String>,
) -> String {
    let mut text = String::new();
    // The path that was read last, and how many colons are behind it.
    let (mut path, mut colons) = (Vec::new(), 0);
    let mut end_path = |text: &mut String, path: &mut Vec<Ident>, colons: &mut usize| {
        if let Some(last) = path.last() {
            // A blank between words, as in `dyn Fn` and `&'a mut T`.
            if text.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                text.push(' ');
            }
            text.push_str(&meaning(path).unwrap_or_else(|| last.to_string()));
        }
        path.clear();
        text.push_str(&":".repeat(std::mem::take(colons)));
    };
    for piece in Pieces::new(tokens) {
        match piece {
            Piece::Tree(TokenTree::Ident(ident)) => {
                if colons < 2 {
                    end_path(&mut text, &mut path, &mut colons);
                }
                colons = 0;
                path.push(ident);
                continue;
            }
            Piece::Tree(TokenTree::Punct(punct)) if punct.as_char() == ':' => {
                colons += 1;
                continue;
            }
            _ => end_path(&mut text, &mut path, &mut colons),
        }
        match piece {
            Piece::Close(group) => text.push_str(brackets(group.delimiter())[1]),
            Piece::Open(group) => text.push_str(brackets(group.delimiter())[0]),
            Piece::Tree(tree) => text.push_str(&tree.to_string()),
        }
    }
    end_path(&mut text, &mut path, &mut colons);
    text
}

/// The key to the verdict on an item: the hash of its canonical tokens. It also knows their places.
#[derive(Clone, Debug)]
pub struct Key {
    hash: u64,
    /// The place of the item's name.
    name: Span,
    spans: Vec<Span>,
}

impl Key {
    /// The hash of the canonical tokens.
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// The place of a token of the item; that of the item's name if there is no such token.
    pub fn span_of(&self, token: usize) -> Span {
        self.spans.get(token).copied().unwrap_or(self.name)
    }
}

/// No UTF-8 text contains it.
const SEPARATOR: u8 = 0xff;

/// A number for names, as fingerprints have it: a [`Hasher`]'s.
pub fn number(names: &[&str]) -> u64 {
    let mut hasher = Hasher::new();
    names.iter().for_each(|name| hasher.text(name));
    hasher.finish()
}

/// The 64-bit FNV-1a hash of texts, with a separator after each one that no UTF-8 text contains.
///
/// The same on every platform. It guards against stale verdicts, not against forged ones: whoever
/// can write into `OUT_DIR` is the build itself.
///
/// ```
/// use rumpsteak_contract::canonical::Hasher;
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
    /// A hasher of nothing yet.
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
        self.bytes(&[SEPARATOR]);
    }

    fn token(&mut self, kind: u8, text: &str) {
        self.bytes(&[kind]);
        self.text(text);
    }

    /// The hash of all that was added.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str, keep: &[&str]) -> Canonical {
        let stream = text.parse();
        Canonical::new(stream.unwrap_or_else(|error| panic!("{text}: {error}")), keep)
    }

    fn key(text: &str) -> Key {
        let name = Ident::new("name", Span::call_site());
        canonical(text, &[]).key(&name)
    }

    #[test]
    fn the_hash_is_the_same_on_every_machine() {
        // FNV-1a as in its definition, over `i` `a` 0xff.
        let bytes = [b'i', b'a', 0xff];
        let step = |hash: u64, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let expected = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, step);
        assert_eq!(key("a").hash(), expected);
    }

    #[test]
    fn groups_become_two_tokens_and_dropped_attributes_none() {
        let text = "#[a::b] struct S { #[keep(x)] f: (u8, #[c] Vec<Vec<u8>>), #![d] /// e\n }";
        let canonical = canonical(text, &["keep"]);
        let tokens = canonical.tokens.iter();
        let shown: Vec<&str> = tokens.map(|token| &text[token.span().byte_range()]).collect();
        assert_eq!(
            shown.join(" "),
            "struct S { # [ keep ( x ) ] f : ( u8 , Vec < Vec < u8 > > ) , # ! [ d ] }"
        );
        let dropped = canonical.dropped.iter();
        let dropped: Vec<_> = dropped.map(|d| (d.before, &*d.name)).collect();
        assert_eq!(dropped, [(0, "b"), (15, "c"), (29, "doc")]);
        assert_eq!(canonical.attributes_before(0).to_string(), "# [a :: b]");
    }

    #[test]
    fn groups_may_be_nested_to_any_depth() {
        let nested = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(key(&nested).spans.len(), 200_000);
    }

    #[test]
    fn types_as_text() {
        for (source, text) in [
            ("std :: vec::Vec< u8 >", "Vec<u8>"),
            ("::std::collections::HashMap<a::B, (c::D, [u8; 4])>", "HashMap<B,(D,[u8;4])>"),
            ("Box<dyn Fn(i32) -> i32>", "Box<dyn Fn(i32)->i32>"),
            ("Box<dyn std::fmt::Debug>", "Box<dyn Debug>"),
            ("&'static str", "&'static str"),
            ("()", "()"),
        ] {
            assert_eq!(type_text(source.parse().unwrap()), text);
        }
    }
}
