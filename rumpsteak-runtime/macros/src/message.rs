use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use rumpsteak_front::MessageItem;
use rumpsteak_front::message::MessageVariant;
use syn::spanned::Spanned as _;

use crate::scope::Scope;
use crate::tokens::at;

/// The conversions between labels and messages.
pub(crate) fn expand(item: &MessageItem, scope: &Scope<'_>) -> TokenStream {
    let krate = scope.krate;
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
    let conversions = conversions.map(|(tag, variant)| conversion(item, scope, tag, variant));
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
    scope: &Scope<'_>,
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
    let (message, krate) = (&item.name, at(scope.krate, ty.span()));
    let members = if scope.asks(label) { quote!(OneMember) } else { quote!(EachMember) };
    quote_spanned! {ty.span()=>
        #[automatically_derived]
        impl #krate::Message<#ty> for #message {
            const LABEL: #krate::private::ByMacro<#krate::private::Label> =
                #krate::private::ByMacro(#krate::private::Label {
                    name: #label,
                    tag: #tag,
                });

            type Members = #krate::states::#members;

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
