//! Tokens that several macros make.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::ToTokens as _;

/// The path of the runtime, all of it placed at `span`, so that rustc points there.
pub(crate) fn at(krate: &TokenStream, span: Span) -> TokenStream {
    let placed = krate.clone().into_iter().map(|mut tree| {
        tree.set_span(span);
        tree
    });
    placed.collect()
}

/// A field of a struct: its name, or its position.
pub(crate) fn member(name: Option<&Ident>, index: usize) -> TokenStream {
    match name {
        Some(name) => name.to_token_stream(),
        None => Literal::usize_unsuffixed(index).into_token_stream(),
    }
}

/// The name of a struct or an enum that may have mistakes.
pub(crate) fn declared(item: TokenStream) -> Option<Ident> {
    let mut trees = item.into_iter();
    let keywords = ["struct", "enum"];
    trees.find(|tree| keywords.contains(&&*tree.to_string()))?;
    match trees.next() {
        Some(TokenTree::Ident(name)) => Some(name),
        _ => None,
    }
}
