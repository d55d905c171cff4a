//! Expansion of a choice: the enum of its options.

use litemap::LiteMap;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use rumpsteak_front::SessionItem;
use rumpsteak_front::session::{Action, Direction, Rest, Variant};
use syn::Error;

use super::expansion::Expansion;
use super::parts::Parts;
use crate::tokens;

impl Expansion<'_> {
    /// The enum of a choice, or of a gather with what follows it.
    pub(super) fn choice(&self, variants: &[Variant], rest: Option<&Rest>) -> TokenStream {
        let SessionItem { attributes, visibility, name, .. } = self.item;
        let (krate, role, message) = (self.krate, &self.role, self.message());
        if let Some(label) = repeated_label(variants) {
            // The code would implement one trait twice.
            let text =
                format!("two options have the label `{label}`: the peer could not tell them apart");
            let error = Error::new(label.span(), text).into_compile_error();
            let (nothing, error) = (super::nothing(name), self.scope.is_whole().then_some(error));
            return quote!(#nothing #error);
        }
        let due = rest.map(|_| quote!(#krate::states::Due<'s, #role, #name<'s, #role>>));
        let docs = variants.iter().map(noted);
        let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
        let labels: Vec<_> = variants.iter().map(|variant| variant.head.label()).collect();
        let parts = variants.iter().map(|variant| Parts {
            chain: &variant.then,
            name: format_ident!("{}{}", name, variant.name),
        });
        let parts: Vec<_> = parts.collect();
        let thens = parts.iter().map(|then| due.clone().unwrap_or_else(|| self.session(then, 0)));
        let thens: Vec<_> = thens.collect();
        let fields = variants.iter().zip(&thens).map(|(variant, then)| self.fields(variant, then));
        let rests = parts.iter().map(|then| self.rest(then));
        let peers = self.peers(variants);
        let state = due.clone().unwrap_or_else(|| quote!(#krate::states::State<'s, #role>));
        let decide = self.decide(variants, &state, due.is_some());
        let actions = variants.iter().filter_map(|variant| variant.head.action());
        let heard = actions.filter(|of| of.direction == Direction::Receive);
        let of_members = heard.filter(|of| self.scope.is_family(&of.peer)).count();
        let first = labels.first();
        let heard = self.heard(variants);
        let (all, gathers) = rest.map(|rest| self.rest_of_gather(rest)).unzip();
        let drains = self.drains();
        let offers = variants.iter().zip(&thens).map(|(variant, then)| self.offers(variant, then));
        let identity = self.identity(name);
        let shown = names.iter().copied().chain(rest.map(|rest| &rest.name));
        let shown = quote!(match self { #(Self::#shown(..) => ::core::stringify!(#shown),)* });
        let debug = self.debug(name, attributes, &shown);
        let bounds = variants.iter().zip(&thens).filter(|_| due.is_none());
        let bounds = bounds.map(|(variant, then)| self.bound(&variant.then, then));
        let body = tokens::at(&quote!({ #(#docs #names(#fields),)* #all }), name.span());
        let head = tokens::at(&quote!(enum #name<'s, #role: #krate::Role>), name.span());
        quote! {
            #(#attributes)*
            #[allow(dead_code, reason = "what is selected is never constructed")]
            #visibility #head #body

            #identity
            #debug
            #(#rests)*

            #[automatically_derived]
            impl<'s, #role> #krate::states::Choice for #name<'s, #role>
            where
                #role: #krate::Role,
                #(#message: #krate::Message<#labels>,)*
                #(#bounds)*
            {
                type Peers = #peers;
                type Members = <#message as #krate::Message<#first>>::Members;
                type Message = #message;
                type State = #state;

                const OF_MEMBERS: #krate::private::ByMacro<usize> =
                    #krate::private::ByMacro(#of_members);

                const VERIFIED: #krate::private::ByMacro<&'static [&'static str]> =
                    #krate::private::ByMacro(&[#(<#message as #krate::Message<#labels>>::NAME),*]);

                #heard

                #decide
            }

            #gathers
            #drains
            #(#offers)*
        }
    }

    /// The labels of the options that receive, if others send.
    fn heard(&self, variants: &[Variant]) -> Option<TokenStream> {
        let (krate, message) = (self.krate, self.message());
        let sends = |of: &&Variant| {
            of.head.action().is_some_and(|action| action.direction == Direction::Send)
        };
        let (sent, heard): (Vec<_>, Vec<_>) = variants.iter().partition(sends);
        let labels = heard.iter().map(|of| of.head.label());
        (!sent.is_empty() && !heard.is_empty()).then(|| {
            quote! {
                const HEARD: #krate::private::ByMacro<&'static [&'static str]> =
                    #krate::private::ByMacro(&[#(<#message as #krate::Message<#labels>>::NAME),*]);
            }
        })
    }

    /// The implementation that drops what it receives, if the options lead to one session.
    fn drains(&self) -> Option<TokenStream> {
        let (krate, role, name) = (self.krate, &self.role, &self.item.name);
        let (out, _) = self.item.way_out().filter(|(out, _)| Parts::is_short(out))?;
        let (rest, message) = (self.session(&self.parts(out), 0), self.message());
        let labels: Vec<_> = self.item.variants().iter().map(|of| of.head.label()).collect();
        let is_out = self.item.variants().iter().map(|of| of.then.to_string() == out.to_string());
        Some(quote! {
            #[automatically_derived]
            impl<'s, #role: #krate::Role> #krate::states::Drains<#message> for #name<'s, #role>
            where
                #(#message: #krate::Message<#labels>,)*
            {
                type Rest = #rest;

                fn leads_on(message: &#message) -> ::core::option::Option<bool> {
                    let tag = #krate::transport::Labelled::labelled(message).tag;
                    #(
                        if tag == <#message as #krate::Message<#labels>>::LABEL.0.tag {
                            return ::core::option::Option::Some(#is_out);
                        }
                    )*
                    ::core::option::Option::None
                }
            }
        })
    }

    /// The last variant of a gather, and its implementation.
    fn rest_of_gather(&self, rest: &Rest) -> (TokenStream, TokenStream) {
        let Rest { name, then, attributes, .. } = rest;
        let (krate, role, message) = (self.krate, &self.role, self.message());
        let parts = Parts { chain: then, name: format_ident!("{}{}", self.item.name, name) };
        let (session, structs) = (self.session(&parts, 0), self.rest(&parts));
        let bound = self.bound(then, &session);
        let (item, labels) = (&self.item.name, self.item.variants().iter());
        let labels = labels.map(|variant| variant.head.label());
        let peers = self.peers(self.item.variants());
        let gathers = quote! {
            #structs

            #[automatically_derived]
            impl<'s, #role> #krate::states::Gathers<'s, #role> for #item<'s, #role>
            where
                #role: #krate::Role,
                #(#message: #krate::Message<#labels>,)*
                #peers: #krate::states::Peers<#role>,
                #bound
            {
                type Rest = #session;

                #[inline]
                fn all(rest: #session) -> Self {
                    Self::#name(rest)
                }
            }
        };
        (quote!(#(#attributes)* #name(#session),), gathers)
    }

    /// The content of an option.
    fn fields(&self, variant: &Variant, then: &TokenStream) -> TokenStream {
        if sent(variant).is_some() {
            // A process never receives what it sends, so it need not match on it. There is one
            // field, so that rustc only reports an arm with a label and a state for having too
            // many. Located there, but still macro code to clippy.
            let span = Span::call_site().located_at(variant.name.span());
            let here = tokens::at(self.krate, span);
            return quote_spanned!(span=> #here::private::NeverReceived<#then>);
        }
        let label = variant.head.label();
        quote!(#label, #then)
    }

    /// The peers that options receive from, if they name them: `(A, (B, ()))`.
    fn peers(&self, variants: &[Variant]) -> TokenStream {
        let mut peers: Vec<&Ident> = Vec::new();
        for action in variants.iter().filter_map(|variant| variant.head.action()) {
            let is_known = peers.iter().any(|known| **known == action.peer);
            if action.direction == Direction::Receive && !is_known {
                peers.push(&action.peer);
            }
        }
        let others = |others, peer: &Ident| quote!((#peer, #others));
        let (families, roles): (Vec<_>, Vec<_>) =
            peers.into_iter().rev().partition(|peer| self.scope.is_family(peer));
        roles.into_iter().chain(families).fold(quote!(()), others)
    }

    /// The functions that enter the option of a message, and tell if there is one.
    fn decide(&self, variants: &[Variant], state: &TokenStream, gathers: bool) -> TokenStream {
        let (krate, message) = (self.krate, self.message());
        let then = match gathers {
            true => quote!(state),
            false => quote!(#krate::states::Session::from_state(state)),
        };
        let received = variants.iter().filter_map(|Variant { name, head, .. }| {
            let label = head.label();
            let is_from = match head.action() {
                Some(Action { direction: Direction::Send, .. }) => return None,
                Some(Action { peer, .. }) => {
                    Some(quote!(from == <#peer as #krate::states::Peer>::NUMBER.0 &&))
                }
                None => None,
            };
            let tag = quote!(<#message as #krate::Message<#label>>::LABEL.0.tag);
            Some((quote!(#name), quote!(#is_from tag == #tag)))
        });
        let (names, are): (Vec<TokenStream>, Vec<TokenStream>) = received.unzip();
        // Only a choice among peers uses it.
        let takes = variants.iter().any(|variant| variant.head.action().is_some()).then(|| {
            quote! {
                #[inline]
                #[allow(unused_variables, reason = "if no option receives")]
                fn takes(message: &#message, from: u64) -> bool {
                    let tag = #krate::transport::Labelled::labelled(message).tag;
                    #(#are ||)* false
                }
            }
        });
        quote! {
            #takes

            #[inline]
            #[allow(unused_variables, reason = "if no option receives, or if none names its peer")]
            fn decide(
                state: #state,
                message: #message,
                from: u64,
            ) -> ::core::result::Result<Self, (#state, #message)> {
                let tag = #krate::transport::Labelled::labelled(&message).tag;
                #(
                    if #are {
                        return match #krate::Message::downcast(message) {
                            ::core::result::Result::Ok(label) => {
                                ::core::result::Result::Ok(Self::#names(label, #then))
                            }
                            ::core::result::Result::Err(message) => {
                                ::core::result::Result::Err((state, message))
                            }
                        };
                    }
                )*
                ::core::result::Result::Err((state, message))
            }
        }
    }

    /// The implementation that lets an option be selected, unless it receives.
    fn offers(&self, variant: &Variant, then: &TokenStream) -> Option<TokenStream> {
        let (krate, role, name) = (self.krate, &self.role, &self.item.name);
        let label = variant.head.label();
        let (offered, peer) = match variant.head.action() {
            Some(Action { direction: Direction::Receive, .. }) => return None,
            Some(Action { peer, .. }) => (quote!(#label, #peer), peer.to_token_stream()),
            None => (quote!(#label), self.peer(None)),
        };
        Some(quote! {
            #[automatically_derived]
            impl<'s, #role: #krate::Role> #krate::states::Offers<#offered> for #name<'s, #role> {
                type Then = #then;

                type ByMacro = #krate::private::ByMacro<fn(Self, #label, #peer)>;
            }
        })
    }
}

/// The action of an option that sends to a named peer.
fn sent(variant: &Variant) -> Option<&Action> {
    variant.head.action().filter(|action| action.direction == Direction::Send)
}

/// The attributes of an option. An option that sends gets a note for processes that match on it,
/// except in documentation, where it would appear as deprecated.
fn noted(variant: &Variant) -> TokenStream {
    let note = sent(variant).map(|action| {
        let text = format!(
            "this role sends `{}` and never receives it: match on `Raced::Sent(s)` or, after `until`, on \
             `Until::Wished(it, s)`",
            action.label
        );
        quote!(#[cfg_attr(not(doc), deprecated = #text)])
    });
    let attributes = &variant.attributes;
    quote!(#(#attributes)* #note)
}

/// The label of the first option that has the label and the peer of an earlier one.
fn repeated_label(variants: &[Variant]) -> Option<&Ident> {
    let mut seen: LiteMap<_, ()> = LiteMap::new();
    let mut labels = variants.iter().filter_map(|Variant { head, .. }| {
        let end = head.action().map(|action| (action.direction, &action.peer));
        seen.insert((head.label(), end), ()).map(|()| head.label())
    });
    labels.next()
}
