//! Helpers that make tokens.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Visibility};

/// Tokens, such as the path of the runtime, with all spans at `span`, so that rustc points there.
pub(crate) fn at(tokens: &TokenStream, span: Span) -> TokenStream {
    let placed = tokens.clone().into_iter().map(|mut tree| {
        tree.set_span(span);
        tree
    });
    placed.collect()
}

/// A field of a struct: its name or index.
pub(crate) fn member(name: Option<&Ident>, index: usize) -> TokenStream {
    match name {
        Some(name) => name.to_token_stream(),
        None => Literal::usize_unsuffixed(index).into_token_stream(),
    }
}

pub(crate) fn field(
    attributes: &[Attribute],
    visibility: &Visibility,
    name: Option<&Ident>,
    ty: &impl ToTokens,
) -> TokenStream {
    let name = name.map(|name| quote!(#name:));
    quote!(#(#attributes)* #visibility #name #ty)
}

/// The fields of a struct after its name.
pub(crate) fn body(fields: &[TokenStream], is_tuple: bool) -> TokenStream {
    match (is_tuple, fields) {
        (true, _) => quote!((#(#fields),*);),
        (false, []) => quote!(;),
        (false, _) => quote!({ #(#fields),* }),
    }
}
