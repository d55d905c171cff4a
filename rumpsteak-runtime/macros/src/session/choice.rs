//! A choice: the enum of its options.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use rumpsteak_contract::SessionItem;
use rumpsteak_contract::session::{Path, Variant};
use syn::Error;

use super::expansion::Expansion;
use super::fingerprint;
use crate::verdict;

impl Expansion<'_> {
    pub(super) fn choice(&self, variants: &[Variant]) -> TokenStream {
        let SessionItem { attributes, visibility, name, .. } = self.item;
        let (krate, role, message) = (self.krate, &self.role, self.message());
        if let Some(problem) = repeated_label(variants) {
            // The build script says so, too, if it ran. Expanded, the impls would conflict.
            return if self.verdict.problems.is_empty() { problem } else { TokenStream::new() };
        }

        let docs = variants.iter().map(|variant| &variant.attributes);
        let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
        let labels: Vec<_> = variants.iter().map(|variant| &variant.label).collect();
        let parts: Vec<_> = self.options(variants);
        let thens: Vec<_> = parts.iter().map(|then| self.session(then, 0)).collect();
        let rests = parts.iter().map(|then| self.rest(then));
        let assertion = self.options_assertion(&labels, &thens);
        let decide = self.decide(&names, &labels);
        let identity = self.identity(name, self.id());
        let debug = self.debug(
            name,
            attributes,
            &quote! {
                ::core::fmt::Formatter::write_str(f, match self {
                    #(Self::#names(..) => ::core::stringify!(#names),)*
                })
            },
        );
        let bounds =
            variants.iter().zip(&thens).map(|(variant, then)| self.bound(&variant.then, then));
        let wheres = quote! {
            #role: #krate::Role,
            #(#message: #krate::Message<#labels>,)*
            #(#bounds)*
        };
        quote! {
            #attributes
            #[allow(dead_code, reason = "what is selected is never constructed")]
            #visibility enum #name<'s, #role: #krate::Role> {
                #(#docs #names(#labels, #thens),)*
            }

            #identity
            #debug
            #(#rests)*

            #[automatically_derived]
            impl<'s, #role> #krate::states::Choice for #name<'s, #role>
            where
                #wheres
            {
                type Message = #message;
                type State = #krate::states::State<'s, #role>;

                const VERIFIED: #krate::private::ByMacro<&'static [&'static str]> = {
                    #assertion
                    #krate::private::ByMacro(&[#(<#message as #krate::Message<#labels>>::NAME),*])
                };

                #decide
            }

            #(
                #[automatically_derived]
                impl<'s, #role: #krate::Role> #krate::states::Offers<#labels> for #name<'s, #role> {
                    type Then = #thens;

                    type ByMacro = #krate::private::ByMacro<fn(Self, #labels)>;
                }
            )*
        }
    }

    /// The assertion that the options are those that were verified.
    fn options_assertion(&self, labels: &[&Path], thens: &[TokenStream]) -> TokenStream {
        let verified = &self.verdict.proof.body;
        if verified.is_empty() {
            return TokenStream::new();
        }
        let (name, here, message) = (&self.item.name, &self.here, self.message());
        let expected = fingerprint::of_choice(verified);
        let text = verdict::resolved_differently(name);
        quote_spanned! {name.span()=>
            let fingerprint = #here::private::fingerprint::CHOICE;
            #(
                let fingerprint = #here::private::fingerprint::mix(
                    #here::private::fingerprint::mix(
                        fingerprint,
                        <#message as #here::Message<#labels>>::LABEL.0.number,
                    ),
                    <#thens as #here::private::Structure>::FINGERPRINT,
                );
            )*
            ::core::assert!(fingerprint == #expected, #text);
        }
    }

    /// The function that takes a message for one of the options.
    fn decide(&self, names: &[&Ident], labels: &[&Path]) -> TokenStream {
        let (krate, role, message) = (self.krate, &self.role, self.message());
        quote! {
            #[inline]
            fn decide(
                state: #krate::states::State<'s, #role>,
                message: #message,
            ) -> ::core::result::Result<Self, (#krate::states::State<'s, #role>, #message)> {
                let tag = #krate::transport::Labelled::labelled(&message).tag;
                #(
                    if tag == <#message as #krate::Message<#labels>>::LABEL.0.tag {
                        return #krate::private::enter(state, message, Self::#names);
                    }
                )*
                ::core::result::Result::Err((state, message))
            }
        }
    }
}

/// Two alternatives with one label could not be told apart.
fn repeated_label(variants: &[Variant]) -> Option<TokenStream> {
    let mut seen: Vec<String> = Vec::new();
    for variant in variants {
        let label = variant.label.to_string();
        if seen.contains(&label) {
            let error = Error::new(
                variant.label.span(),
                format_args!(
                    "a second alternative with the label `{label}`: nobody could tell which one was chosen"
                ),
            );
            return Some(error.into_compile_error());
        }
        seen.push(label);
    }
    None
}
