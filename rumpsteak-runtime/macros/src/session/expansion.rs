//! The parts that the expansions of all sessions share: parameter names, the types of chains, and
//! the proof of a root.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{ToTokens as _, TokenStreamExt as _, quote, quote_spanned};
use rumpsteak_build::expansion::{Direction, Fsm, RootFacts, picture};
use rumpsteak_front::SessionItem;
use rumpsteak_front::session::{Action, Chain, Tail};
use syn::Attribute;

use super::parts::Parts;
use crate::scope::Scope;
use crate::tokens;

pub(super) struct Expansion<'a> {
    pub(super) item: &'a SessionItem,
    pub(super) scope: &'a Scope<'a>,
    pub(super) krate: &'a TokenStream,
    /// The path of the runtime, with the item's span.
    pub(super) here: TokenStream,
    /// The name of the role parameter.
    pub(super) role: Ident,
    /// The machine, if the item is a root.
    fsm: Option<Fsm>,
}

impl<'a> Expansion<'a> {
    pub(super) fn new(item: &'a SessionItem, scope: &'a Scope<'a>) -> Self {
        Self {
            item,
            scope,
            krate: scope.krate,
            here: tokens::at(scope.krate, item.name.span()),
            // rustc shows this name if a process does not name a role.
            role: scope.parameter(if scope.is_used(item) { "R" } else { "NoSessionAttribute" }),
            fsm: scope.root(&item.name).and_then(RootFacts::fsm),
        }
    }

    pub(super) fn alias(&self, chain: &Parts<'_>) -> TokenStream {
        let (SessionItem { attributes, visibility, name, .. }, role) = (self.item, &self.role);
        let (default, picture) = self.default();
        let head = tokens::at(&quote!(type #name<'s, #role #default>), name.span());
        let session = self.session(chain, 0);
        let rest = self.rest(chain);
        quote! {
            #(#attributes)*
            #picture
            #visibility #head = #session;

            #rest
        }
    }

    pub(super) fn message(&self) -> TokenStream {
        let (krate, role) = (self.krate, &self.role);
        quote!(<#role as #krate::Role>::Message)
    }

    /// The implementation with the number of a struct or enum.
    pub(super) fn identity(&self, name: &Ident) -> TokenStream {
        let (here, role, number) = (&self.here, &self.role, self.scope.number(name));
        quote_spanned! {name.span()=>
            #[automatically_derived]
            impl<'s, #role: #here::Role> #here::private::Structure for #name<'s, #role> {
                const FINGERPRINT: u64 = #number;
            }
        }
    }

    /// `Debug` without payloads, so that labels need no `Debug`. None if the item derives its own.
    pub(super) fn debug(
        &self,
        name: &Ident,
        attributes: &[Attribute],
        shown: &TokenStream,
    ) -> Option<TokenStream> {
        let (krate, role) = (self.krate, &self.role);
        let mut derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
        let has_own = derives.any(|derive| derive.to_token_stream().to_string().contains("Debug"));
        (!has_own).then(|| {
            quote! {
                #[automatically_derived]
                #[allow(deprecated, reason = "what is sent is marked for those who match on it")]
                impl<'s, #role: #krate::Role> ::core::fmt::Debug for #name<'s, #role> {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        ::core::fmt::Formatter::write_str(f, #shown)
                    }
                }
            }
        })
    }

    /// The type of a chain from an action on, up to the next cut, with all parameters. It is
    /// written from left to right without recursion, however long the chain is.
    pub(super) fn session(&self, parts: &Parts<'_>, from: usize) -> TokenStream {
        let role = &self.role;
        let Chain { actions, tail } = parts.chain;
        let end = parts.cuts().find(|&cut| cut > from);
        let actions = &actions[from..end.unwrap_or(actions.len())];
        let mut tokens = TokenStream::new();
        for Action { constructor, peer, label, .. } in actions {
            let constructor = self.constructor(constructor);
            tokens.extend(quote!(#constructor<'s, #role, #peer, #label,));
        }
        tokens.extend(match (end, tail) {
            (Some(cut), _) => self.apply(&parts.part(cut)),
            (None, Tail::Choice { constructor, peer, choice, .. }) => {
                let (constructor, choice) = (self.constructor(constructor), self.apply(choice));
                let peer = self.peer(peer.as_ref());
                quote!(#constructor<'s, #role, #peer, #choice>)
            }
            (None, Tail::End(constructor)) => {
                let constructor = self.constructor(constructor);
                quote!(#constructor<'s, #role>)
            }
            (None, Tail::Itself(word)) => self.itself(word.span()),
            (None, Tail::Named(name)) => self.apply(name),
        });
        for _ in actions {
            tokens.append(Punct::new('>', Spacing::Alone));
        }
        tokens
    }

    pub(super) fn parts<'p>(&self, chain: &'p Chain) -> Parts<'p> {
        Parts { chain, name: self.item.name.clone() }
    }

    /// The type of a chain from an action on: the name of a struct if it is cut there.
    pub(super) fn then(&self, parts: &Parts<'_>, from: usize) -> TokenStream {
        match parts.cuts().any(|cut| cut == from) {
            true => self.apply(&parts.part(from)),
            false => self.session(parts, from),
        }
    }

    /// The bound that a chain is a state of this session. Only needed for a named item: all other
    /// chains are known to be.
    pub(super) fn bound(&self, chain: &Chain, ty: &TokenStream) -> TokenStream {
        let (krate, role) = (self.krate, &self.role);
        match (&chain.actions[..], &chain.tail) {
            ([], Tail::Itself(_) | Tail::Named(_)) => quote! {
                #ty: #krate::states::Session<State = #krate::states::State<'s, #role>>,
            },
            _ => TokenStream::new(),
        }
    }

    /// The peer of a choice, or `AnyPeer` if its options name theirs.
    pub(super) fn peer(&self, peer: Option<&Ident>) -> TokenStream {
        let krate = self.krate;
        peer.map_or_else(|| quote!(#krate::states::AnyPeer), Ident::to_token_stream)
    }

    /// The path of a state.
    fn constructor(&self, word: &Ident) -> TokenStream {
        let krate = tokens::at(self.krate, word.span());
        quote_spanned!(word.span()=> #krate::states::#word)
    }

    /// The item of this name, with its parameters.
    pub(super) fn apply(&self, name: &Ident) -> TokenStream {
        let role = &self.role;
        if name == "Self" { self.itself(name.span()) } else { quote!(#name<'s, #role>) }
    }

    /// The type of this item, for `Self` in the source.
    fn itself(&self, span: Span) -> TokenStream {
        let (mut name, role) = (self.item.name.clone(), &self.role);
        name.set_span(span);
        quote!(#name<'s, #role>)
    }

    /// The default of the role parameter and a picture of the machine, for a root. The picture is
    /// only in documentation, because editors would show its text.
    pub(super) fn default(&self) -> (Option<TokenStream>, Option<TokenStream>) {
        let default = self.item.role.as_ref().map(|role| quote!(= #role));
        let picture = self.fsm.as_ref().and_then(picture).map(|picture| {
            let picture = format!("\n<div style=\"overflow-x:auto\">{}</div>", picture.trim_end());
            quote!(#[cfg_attr(doc, doc = #picture)])
        });
        (default, picture)
    }

    /// The proof that the role may run the session.
    pub(super) fn root(&self, role: &Ident) -> TokenStream {
        let (name, here) = (&self.item.name, &self.here);
        let machine = self.fsm.as_ref().map(|fsm| constant(fsm, self.krate));
        let is_refused = !self.scope.root(name).is_some_and(|facts| facts.passed);
        let verified = is_refused.then(|| quote! { const VERIFIED: bool = false; });
        quote_spanned! {name.span()=>
            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl<'s> #here::private::Plays<#name<'s, #role>> for #role {
                #verified
                #machine

                const BY_MACRO: #here::private::ByMacro = #here::private::ByMacro(());

                type State = #here::states::State<'s, #role>;

                type Player = #role;

                #[inline]
                fn begin(state: #here::states::State<'s, #role>) -> #name<'s, #role> {
                    #here::states::Session::from_state(state)
                }
            }

            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl #here::states::Holds<#name<'static, #here::Held<#role>>> for #role {
                #verified

                const BY_MACRO: #here::private::ByMacro = #here::private::ByMacro(());
            }
        }
    }
}

fn constant(fsm: &Fsm, krate: &TokenStream) -> TokenStream {
    let (role, states, initial) = (fsm.role().as_str(), fsm.len(), fsm.initial().index());
    let transitions = fsm.transitions().map(|by| {
        let (source, target, action) = (by.source.index(), by.target.index(), by.action);
        let (peer, sends) = (action.peer.as_str(), action.direction == Direction::Send);
        let label = action.message.label.as_str();
        let sorts = action.message.payload.iter().map(|sort| sort.as_str());
        quote!((#source, #sends, #peer, #label, &[#(#sorts),*], #target))
    });
    quote! {
        const MACHINE: #krate::machine::Machine =
            #krate::machine::Machine::new(#role, #states, #initial, &[#(#transitions),*]);
    }
}
