//! Comparison of the types in labels with the types that the protocol declares, by rustc.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};
use rumpsteak_build::expansion::{Expected, PayloadCheck};
use rumpsteak_front::LabelItem;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput};

use crate::tokens::at;

/// The code that compares the type of one field.
pub(crate) fn check(
    PayloadCheck { field, expected, .. }: &PayloadCheck,
    LabelItem { name, tokens, .. }: &LabelItem,
    krate: &TokenStream,
) -> Option<TokenStream> {
    let Data::Struct(data) = syn::parse2::<DeriveInput>(tokens.clone()).ok()?.data else {
        return None;
    };
    let ty = &data.fields.iter().nth(*field)?.ty;
    let member = at(&data.fields.members().nth(*field).into_token_stream(), ty.span());
    let krate = at(krate, ty.span());
    Some(match expected {
        Expected::Session { protocol, role } => {
            let text = format!(
                "the protocol says a session of `{role}` of `{protocol}` here, and the label carries another session"
            );
            quote_spanned! {ty.span()=>
                const _: () = ::core::assert!(
                    #krate::private::carries_session::<#ty>(#protocol, #role),
                    #text
                );
            }
        }
        // The written type is not repeated: if it does not exist, rustc reports it once.
        Expected::Type(expected) => {
            let expected: TokenStream = expected.parse().ok()?;
            quote_spanned! {ty.span()=>
                const _: fn(&#name) = |label| #krate::private::carries::<#expected>(&label.#member);
            }
        }
    })
}
