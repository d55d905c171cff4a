//! Message types, and the payloads of labels.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use rumpsteak_build::expansion::{Expected, PayloadCheck};
use rumpsteak_front::message::MessageVariant;
use rumpsteak_front::{LabelItem, MessageItem};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput};

use crate::tokens::at;

/// The conversions between labels and messages.
pub(crate) fn expand(item: &MessageItem, krate: &TokenStream) -> TokenStream {
    let MessageItem { name: message, variants, tokens, .. } = item;
    let pattern = |MessageVariant { name, .. }: &MessageVariant| match item.label {
        Some(_) => quote!(_),
        None => quote!(Self::#name(_)),
    };
    let patterns: Vec<_> = variants.iter().map(pattern).collect();
    let types = variants.iter().map(|variant| &variant.ty);
    // A struct travels without a number of its label.
    let labels = variants.iter().map(|variant| match item.label {
        Some(_) => format!("struct {}", variant.label),
        None => variant.label.clone(),
    });
    let labels = labels.collect::<Vec<_>>().join("\n");
    let conversions = variants.iter().enumerate();
    let conversions = conversions.map(|(tag, variant)| conversion(item, krate, tag, variant));
    quote! {
        #tokens

        #[automatically_derived]
        impl #krate::transport::Labelled for #message {
            const LABELS: &'static str = #labels;

            #[inline]
            fn labelled(&self) -> #krate::private::Label {
                match self {
                    #(#patterns => <Self as #krate::Message<#types>>::LABEL.0,)*
                }
            }
        }
        #(#conversions)*
    }
}

/// The conversions between one label and messages.
fn conversion(
    item: &MessageItem,
    krate: &TokenStream,
    tag: usize,
    variant: &MessageVariant,
) -> TokenStream {
    let MessageVariant { name, label, ty, .. } = variant;
    let (upcast, downcast) = match item.label {
        Some(_) => (quote!(label), quote!(::core::result::Result::Ok(self))),
        None => (
            quote!(Self::#name(label)),
            quote! {
                match self {
                    Self::#name(label) => ::core::result::Result::Ok(label),
                    #[allow(unreachable_patterns, reason = "the only label")]
                    other => ::core::result::Result::Err(other),
                }
            },
        ),
    };
    let (message, krate) = (&item.name, at(krate, ty.span()));
    quote_spanned! {ty.span()=>
        #[automatically_derived]
        impl #krate::Message<#ty> for #message {
            const LABEL: #krate::private::ByMacro<#krate::private::Label> =
                #krate::private::ByMacro(#krate::private::Label {
                    name: #label,
                    tag: #tag,
                });

            #[inline]
            fn upcast(label: #ty) -> Self {
                #upcast
            }

            #[inline]
            fn downcast(self) -> ::core::result::Result<#ty, Self> {
                #downcast
            }
        }
    }
}

/// The code with which rustc compares the type of a field with the type in the protocol.
pub(crate) fn payload(
    PayloadCheck { field, expected, .. }: &PayloadCheck,
    LabelItem { name, tokens, .. }: &LabelItem,
    krate: &TokenStream,
) -> Option<TokenStream> {
    let Data::Struct(data) = syn::parse2::<DeriveInput>(tokens.clone()).ok()?.data else {
        return None;
    };
    let found = data.fields.iter().nth(*field)?;
    let ty = &found.ty;
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
