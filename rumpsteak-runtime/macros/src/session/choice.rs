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
        let thens: Vec<_> = variants
            .iter()
            .map(|variant| self.session(&variant.then.actions, &variant.then.tail))
            .collect();
        let assertion = self.options_assertion(&labels, &thens);
        let decide = self.decide(&names, &labels);
        let identity = self.identity();
        let debug = self.debug(&quote! {
            ::core::fmt::Formatter::write_str(f, match self {
                #(Self::#names(..) => ::core::stringify!(#names),)*
            })
        });
        let wheres = quote! {
            #role: #krate::Role,
            #(#message: #krate::Message<#labels>,)*
            #(#thens: #krate::states::Session<State = #krate::states::State<'s, #role>> + #krate::private::Structure,)*
        };
        quote! {
            #attributes
            #[allow(dead_code, reason = "what is selected is never constructed")]
            #visibility enum #name<'s, #role: #krate::Role> {
                #(#docs #names(#labels, #thens),)*
            }

            #identity
            #debug

            #[automatically_derived]
            impl<'s, #role> #krate::states::Choice for #name<'s, #role>
            where
                #wheres
            {
                type Message = #message;
                type State = #krate::states::State<'s, #role>;

                const LABELS: &'static [&'static str] =
                    &[#(<#message as #krate::Message<#labels>>::NAME),*];

                const VERIFIED: #krate::private::ByMacro = {
                    #assertion
                    #krate::private::ByMacro
                };

                #decide
            }

            #(
                #[automatically_derived]
                impl<'s, #role> #krate::states::Offers<#labels> for #name<'s, #role>
                where
                    #wheres
                {
                    type Then = #thens;

                    const BY_MACRO: #krate::private::ByMacro = #krate::private::ByMacro;
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
        let labels_verified = verified.iter().map(|(label, _)| label);
        let thens_verified = verified.iter().map(|(_, chain)| fingerprint::of(chain, here));
        let text = verdict::resolved_differently(name);
        quote_spanned! {name.span()=>
            ::core::assert!(
                #here::private::fingerprint::choice(&[#(
                    (
                        <#message as #here::Message<#labels>>::NAME,
                        <#thens as #here::private::Structure>::FINGERPRINT,
                    ),
                )*]) == #here::private::fingerprint::choice(&[#((#labels_verified, #thens_verified),)*]),
                #text
            );
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
                match #krate::transport::Labelled::tag(&message) {
                    #(
                        tag if tag == <#message as #krate::Message<#labels>>::TAG => {
                            match <#message as #krate::Message<#labels>>::downcast(message) {
                                ::core::result::Result::Ok(label) => ::core::result::Result::Ok(
                                    Self::#names(label, #krate::states::Session::from_state(state)),
                                ),
                                ::core::result::Result::Err(message) => ::core::result::Result::Err((state, message)),
                            }
                        }
                    )*
                    _ => ::core::result::Result::Err((state, message)),
                }
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
