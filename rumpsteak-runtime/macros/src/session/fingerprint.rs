//! The fingerprint of what was verified, as an expression.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use rumpsteak_contract::verdict::{Action, Chain, Direction, RoleName, Tail};

/// The fingerprint of a chain as it was verified, written from the last action to the first: a
/// chain of statements, so that its length does not nest.
pub(super) fn of(chain: &Chain, krate: &TokenStream) -> TokenStream {
    let tail = match &chain.tail {
        Tail::Choice {
            direction,
            peer: RoleName { protocol, role },
            id,
        } => {
            let constructor = match direction {
                Direction::Receive => quote!(branch),
                Direction::Send => quote!(select),
            };
            quote!(#krate::private::fingerprint::#constructor(#protocol, #role, #id))
        }
        Tail::End => quote!(#krate::private::fingerprint::end()),
        Tail::Named(id) => id.to_token_stream(),
    };
    let steps = chain.actions.iter().rev().map(|action| {
        let Action { direction, peer: RoleName { protocol, role }, label } = action;
        let constructor = match direction {
            Direction::Receive => quote!(receive),
            Direction::Send => quote!(send),
        };
        quote!(let then = #krate::private::fingerprint::#constructor(#protocol, #role, #label, then);)
    });
    quote!({
        let then: u64 = #tail;
        #(#steps)*
        then
    })
}
