use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Field;

/// Tokens, such as the path of the runtime, with all spans at `span`, so that rustc points there.
pub(crate) fn at(tokens: &TokenStream, span: Span) -> TokenStream {
    let placed = tokens.clone().into_iter().map(|mut tree| {
        tree.set_span(span);
        tree
    });
    placed.collect()
}

/// The fields of a struct after its name.
pub(crate) fn body(fields: &[&Field]) -> TokenStream {
    match fields {
        [] => quote!(;),
        [first, ..] if first.ident.is_none() => quote!((#(#fields),*);),
        _ => quote!({ #(#fields),* }),
    }
}
