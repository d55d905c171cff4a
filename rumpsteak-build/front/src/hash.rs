//! Hashes that are the same on every platform.

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A token of a flattened stream.
pub(crate) enum Piece {
    /// The closing bracket of a group.
    Close(Delimiter),
    /// The opening bracket of a group.
    Open(Group),
    /// Any other token.
    Tree(TokenTree),
}

impl Piece {
    /// Returns the token, unless it is a bracket.
    pub(crate) fn tree(self) -> Option<TokenTree> {
        let Self::Tree(tree) = self else { return None };
        Some(tree)
    }
}

/// Iterates over the tokens of a stream from first to last, without recursion. Invisible groups are
/// no tokens.
pub(crate) struct Pieces(Vec<(IntoIter, Delimiter)>);

impl Pieces {
    pub(crate) fn new(stream: TokenStream) -> Self {
        Self(vec![(stream.into_iter(), Delimiter::None)])
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            let piece = match self.0.last_mut()?.0.next() {
                Some(TokenTree::Group(group)) => {
                    self.0.push((group.stream().into_iter(), group.delimiter()));
                    Piece::Open(group)
                }
                Some(tree) => Piece::Tree(tree),
                None => Piece::Close(self.0.pop()?.1),
            };
            match &piece {
                Piece::Close(Delimiter::None) => {}
                Piece::Open(group) if group.delimiter() == Delimiter::None => {}
                _ => return Some(piece),
            }
        }
    }
}

/// Identifies the text of a file by a hash of 64 bits, in hexadecimal.
///
/// The hash detects stale files. It does not protect against forged ones.
pub fn stamp(text: &str) -> String {
    format!("{:016x}", number(&[text]))
}

/// Numbers a list of names with a [`Hasher`].
pub fn number(names: &[&str]) -> u64 {
    let mut hasher = Hasher::default();
    names.iter().for_each(|name| hasher.text(name));
    hasher.finish()
}

/// The 64-bit FNV-1a hash of texts, with a separator after each text.
///
/// It detects stale verdicts. It does not protect against forged ones: only the build itself can
/// write into `OUT_DIR`.
///
/// ```
/// use rumpsteak_front::hash::number;
/// assert_ne!(number(&["ab", "c"]), number(&["a", "bc"]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Hasher(u64);

impl Default for Hasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher {
    /// Adds bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a text, and a separator that no text in UTF-8 contains.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }

    /// Adds all tokens of a stream, each with its kind, but for documentation.
    ///
    /// The result is the same for rustc's tokens and for tokens that were lexed from a file.
    pub fn tokens(&mut self, stream: TokenStream) {
        let (mut pieces, mut before) = (Pieces::new(stream), None);
        while let Some(piece) = pieces.next() {
            // The hash before a `#` or `#!`, which may belong to documentation.
            before = match (&piece, before) {
                (Piece::Open(group), Some(hash)) if is_documentation(group) => {
                    pieces.0.pop();
                    (*self, before) = (hash, None);
                    continue;
                }
                (Piece::Tree(TokenTree::Punct(punct)), _) if punct.as_char() == '#' => Some(*self),
                (Piece::Tree(TokenTree::Punct(punct)), hash) if punct.as_char() == '!' => hash,
                _ => None,
            };
            self.piece(&piece);
        }
    }

    fn piece(&mut self, piece: &Piece) {
        let (kind, text) = match piece {
            Piece::Close(delimiter) => (b'c', format!("{delimiter:?}")),
            Piece::Open(group) => (b'o', format!("{:?}", group.delimiter())),
            Piece::Tree(tree @ TokenTree::Ident(_)) => (b'i', tree.to_string()),
            Piece::Tree(TokenTree::Punct(punct)) => (b'p', punct.as_char().to_string()),
            Piece::Tree(tree) => (b'l', tree.to_string()),
        };
        self.bytes(&[kind]);
        self.text(&text);
    }

    /// Returns the hash of everything that was added.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

/// Returns true for the brackets of `#[doc …]`.
fn is_documentation(group: &Group) -> bool {
    let is_doc = |tree| matches!(tree, TokenTree::Ident(name) if name == "doc");
    group.delimiter() == Delimiter::Bracket && group.stream().into_iter().next().is_some_and(is_doc)
}
