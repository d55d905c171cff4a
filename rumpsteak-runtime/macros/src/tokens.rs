//! Tokens that several items are made of.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::ToTokens as _;

/// Tokens, such as the path of the runtime, all of them placed at `span`, so that rustc points there.
pub(crate) fn at(tokens: &TokenStream, span: Span) -> TokenStream {
    let placed = tokens.clone().into_iter().map(|mut tree| {
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
