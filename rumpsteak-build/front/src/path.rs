//! Paths as the user wrote them.

use std::fmt;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

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
    pub fn last(&self) -> &Ident {
        // The reader is the only one to make paths, and it makes none without a segment.
        &self.segments[self.segments.len() - 1]
    }

    /// The index of the last segment's token, the one that a message about the path points at.
    pub fn last_token(&self) -> usize {
        // Each segment before it is three tokens: the name and `::`.
        self.token + usize::from(self.leading_colon) * 2 + (self.segments.len() - 1) * 3
    }

    /// The identifier that the whole path consists of; `None` if it is longer.
    pub fn as_ident(&self) -> Option<&Ident> {
        match &self.segments[..] {
            [ident] if !self.leading_colon => Some(ident),
            _ => None,
        }
    }

    /// The place of the last segment, at which a message about the path points.
    pub fn span(&self) -> Span {
        self.last().span()
    }

    /// Each segment, and whether `::` stands before it.
    fn separated(&self) -> impl Iterator<Item = (bool, &Ident)> {
        let segments = self.segments.iter().enumerate();
        segments.map(|(index, segment)| (index > 0 || self.leading_colon, segment))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut segments = self.separated();
        segments.try_for_each(|(after, segment)| {
            write!(f, "{}{segment}", if after { "::" } else { "" })
        })
    }
}

impl ToTokens for Path {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for (after, segment) in self.separated() {
            if after {
                tokens.extend(quote_spanned!(segment.span()=> ::));
            }
            segment.to_tokens(tokens);
        }
    }
}
