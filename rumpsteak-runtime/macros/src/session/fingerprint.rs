//! The fingerprint of what was verified, as an expression.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use rumpsteak_contract::verdict::Step;

/// The fingerprint of a chain as it was verified, written from the last action to the first: a
/// chain of statements, so that its length does not nest.
pub(super) fn of(chain: &[Step], krate: &TokenStream) -> TokenStream {
    let mut steps = chain.iter().rev();
    let tail = steps.next().map(|(constructor, names, id)| {
        if constructor.is_empty() {
            return quote!(#id);
        }
        let constructor = format_ident!("{constructor}");
        let id = id.iter();
        quote!(#krate::private::fingerprint::#constructor(#(#names,)* #(#id)*))
    });
    let steps = steps.map(|(constructor, names, _)| {
        let constructor = format_ident!("{constructor}");
        quote!(let then = #krate::private::fingerprint::#constructor(#(#names,)* then);)
    });
    quote!({
        let then: u64 = #tail;
        #(#steps)*
        then
    })
}
