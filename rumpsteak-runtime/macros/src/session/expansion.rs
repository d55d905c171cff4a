//! What all session items expand with: the verdict, the names of the parameters, the types of
//! chains.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, TokenStreamExt as _, format_ident, quote, quote_spanned};
use rumpsteak_contract::SessionItem;
use rumpsteak_contract::session::{Action, Chain, Head, Path, Tail, Variant};
use rumpsteak_contract::verdict::{Kind, Step};

use super::parts::Parts;
use crate::tokens;
use crate::verdict::{self, Missing, Verdict};

pub(super) struct Expansion<'a> {
    pub(super) item: &'a SessionItem,
    /// The arguments of the attribute and the item, as rustc gave them.
    source: TokenStream,
    pub(super) krate: &'a TokenStream,
    /// The path of the runtime, placed at the name of the item.
    pub(super) here: TokenStream,
    /// The name of the parameter for the role.
    pub(super) role: Ident,
    /// What the build script says about the item.
    pub(super) verdict: Verdict,
    /// Whether a root gets its proof.
    pub(super) plays: bool,
}

impl<'a> Expansion<'a> {
    pub(super) fn new(item: &'a SessionItem, source: TokenStream) -> Self {
        let is_root = item.role.is_some();
        let (verdict, plays) =
            match verdict::find(Kind::Session, &item.name, &item.key, &item.krate) {
                Ok(found) => {
                    let plays = found.proof.plays.is_some();
                    (found, plays)
                }
                // One message is enough: a part of a session cannot run without a root.
                Err(Missing::Unverified(_)) if !is_root => (Verdict::default(), false),
                // The proof proves nothing, but keeps rustc from following this up.
                Err(missing) => {
                    let problems = missing.error(&item.name);
                    let verdict = Verdict { problems, ..Verdict::default() };
                    (verdict, is_root)
                }
            };
        Self {
            item,
            role: fresh(&source, "R"),
            krate: &item.krate,
            here: tokens::at(&item.krate, item.name.span()),
            source,
            verdict,
            plays,
        }
    }

    pub(super) fn alias(&self, chain: &Parts<'_>) -> TokenStream {
        let SessionItem { attributes, visibility, name, .. } = self.item;
        let parameters = self.parameters(None, self.item.role.as_ref());
        let session = self.session(chain, 0);
        let rest = self.rest(chain);
        quote! {
            #attributes
            #visibility type #name #parameters = #session;

            #rest
        }
    }

    /// `<'s, R: Bound = K>`, where only a root has a default.
    pub(super) fn parameters(
        &self,
        bound: Option<TokenStream>,
        default: Option<&Path>,
    ) -> TokenStream {
        let role = &self.role;
        let bound = bound.map(|bound| quote!(: #bound));
        let default = default.map(|default| quote!(= #default));
        quote!(<'s, #role #bound #default>)
    }

    /// The message type of the role.
    pub(super) fn message(&self) -> TokenStream {
        let (krate, role) = (self.krate, &self.role);
        quote!(<#role as #krate::Role>::Message)
    }

    /// A name for a parameter that shadows no name in the item.
    pub(super) fn fresh(&self, proposed: &str) -> Ident {
        fresh(&self.source, proposed)
    }

    /// The identity of the item, in the fingerprints of what contains it. Where nothing was
    /// verified, it matches no proof.
    pub(super) fn id(&self) -> u64 {
        self.verdict.proof.id.unwrap_or_else(|| self.item.key.hash())
    }

    /// The identity of a struct or enum.
    pub(super) fn identity(&self, name: &Ident, id: u64) -> TokenStream {
        let (here, role) = (&self.here, &self.role);
        quote_spanned! {name.span()=>
            #[automatically_derived]
            impl<'s, #role: #here::Role> #here::private::Structure for #name<'s, #role> {
                const FINGERPRINT: u64 = #id;
            }
        }
    }

    /// `Debug`, which shows where the session is and not what it carries: labels need no `Debug`.
    /// An item whose `attributes` derive their own keeps that.
    pub(super) fn debug(
        &self,
        name: &Ident,
        attributes: &TokenStream,
        body: &TokenStream,
    ) -> Option<TokenStream> {
        let (krate, role) = (self.krate, &self.role);
        (!mentions(attributes.clone(), "Debug")).then(|| {
            quote! {
                #[automatically_derived]
                #[allow(deprecated, reason = "what is sent is marked for those who match on it")]
                impl<'s, #role: #krate::Role> ::core::fmt::Debug for #name<'s, #role> {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        #body
                    }
                }
            }
        })
    }

    /// The type of a chain from one of its actions on, up to where it is cut, with all parameters.
    /// Written from left to right: however long the chain, this does not recurse.
    pub(super) fn session(&self, parts: &Parts<'_>, from: usize) -> TokenStream {
        let role = &self.role;
        let Chain { actions, tail } = parts.chain;
        let end = parts.cuts().find(|&cut| cut > from);
        let actions = &actions[from..end.unwrap_or(actions.len())];
        let mut tokens = TokenStream::new();
        for action in actions {
            tokens.extend(self.head(action));
        }
        tokens.extend(match (end, tail) {
            (Some(cut), _) => self.part(parts, cut),
            (None, Tail::Choice { constructor, peer, choice, .. }) => {
                let (constructor, choice) = (self.constructor(constructor), self.apply(choice));
                let peer = self.peer(peer.as_ref());
                quote!(#constructor<'s, #role, #peer, #choice>)
            }
            (None, Tail::End(constructor)) => {
                let constructor = self.constructor(constructor);
                quote!(#constructor<'s, #role>)
            }
            (None, Tail::Itself(path)) => self.itself(path.span()),
            (None, Tail::Named(path)) => self.apply(path),
        });
        for _ in actions {
            tokens.append(Punct::new('>', Spacing::Alone));
        }
        tokens
    }

    /// An action with what follows it.
    pub(super) fn action(&self, action: &Action, then: &TokenStream) -> TokenStream {
        let head = self.head(action);
        quote!(#head #then>)
    }

    /// An action up to what follows it.
    fn head(&self, Action { constructor, peer, label, .. }: &Action) -> TokenStream {
        let (role, constructor) = (&self.role, self.constructor(constructor));
        quote!(#constructor<'s, #role, #peer, #label,)
    }

    pub(super) fn parts<'p>(&'p self, chain: &'p Chain) -> Parts<'p> {
        Parts { chain, name: self.item.name.clone(), verified: self.verified(0) }
    }

    pub(super) fn options<'p>(&'p self, variants: &'p [Variant]) -> Vec<Parts<'p>> {
        let option = |(position, variant): (usize, &'p Variant)| Parts {
            chain: &variant.then,
            name: format_ident!("{}{}", self.item.name, variant.name),
            // The head is no part of the chain.
            verified: match (&variant.head, self.verified(position)) {
                (Head::Action(_), [_, rest @ ..]) => rest,
                (_, verified) => verified,
            },
        };
        variants.iter().enumerate().map(option).collect()
    }

    /// What was verified of a chain of the item.
    fn verified(&self, position: usize) -> &[Step] {
        self.verdict.proof.body.get(position).map_or(&[], |(_, chain)| chain)
    }

    /// The struct of a chain from a cut on.
    pub(super) fn part(&self, parts: &Parts<'_>, cut: usize) -> TokenStream {
        let (name, role) = (parts.part(cut), &self.role);
        quote!(#name<'s, #role>)
    }

    /// What follows an action: the chain from the next one on, by its name if it is cut there.
    pub(super) fn then(&self, parts: &Parts<'_>, from: usize) -> TokenStream {
        match parts.cuts().any(|cut| cut == from) {
            true => self.part(parts, from),
            false => self.session(parts, from),
        }
    }

    /// The bound of a chain that follows or is wrapped: that it is a state of this session is known
    /// of all but items with a name.
    pub(super) fn bound(&self, chain: &Chain, ty: &TokenStream) -> TokenStream {
        let (krate, role) = (self.krate, &self.role);
        match (&chain.actions[..], &chain.tail) {
            ([], Tail::End(_)) => TokenStream::new(),
            ([], Tail::Itself(_) | Tail::Named(_)) => quote! {
                #ty: #krate::states::Session<State = #krate::states::State<'s, #role>>
                    + #krate::private::Structure,
            },
            _ => quote!(#ty: #krate::private::Structure,),
        }
    }

    /// The peer of a choice; `AnyPeer` if its options name it.
    pub(super) fn peer(&self, peer: Option<&Path>) -> TokenStream {
        let krate = self.krate;
        peer.map_or_else(|| quote!(#krate::states::AnyPeer), Path::to_token_stream)
    }

    /// A constructor: a bare word is that of the runtime, and a longer path stands for itself.
    fn constructor(&self, path: &Path) -> TokenStream {
        match path.as_ident() {
            Some(word) => {
                let krate = tokens::at(&self.item.krate, word.span());
                quote_spanned!(word.span()=> #krate::states::#word)
            }
            None => path.to_token_stream(),
        }
    }

    /// The item named by a path, with its parameters.
    pub(super) fn apply(&self, path: &Path) -> TokenStream {
        match path.as_ident() {
            Some(ident) if ident == "Self" => self.itself(ident.span()),
            _ => {
                let role = &self.role;
                quote!(#path<'s, #role>)
            }
        }
    }

    /// This item, where the source says `Self`.
    fn itself(&self, span: Span) -> TokenStream {
        let (mut name, role) = (self.item.name.clone(), &self.role);
        name.set_span(span);
        quote!(#name<'s, #role>)
    }
}

/// Whether a name occurs in tokens, at whatever depth: `#[derive(Debug)]`,
/// `#[cfg_attr(test, derive(std::fmt::Debug))]`.
fn mentions(tokens: TokenStream, name: &str) -> bool {
    let mut open = vec![tokens];
    while let Some(tokens) = open.pop() {
        for token in tokens {
            match token {
                TokenTree::Group(group) => open.push(group.stream()),
                TokenTree::Ident(ident) if ident == name => return true,
                _ => {}
            }
        }
    }
    false
}

/// A name for a parameter that shadows no name in the item: the one proposed, unless a role or
/// label is called so.
fn fresh(source: &TokenStream, proposed: &str) -> Ident {
    let mut name = format_ident!("{proposed}");
    while mentions(source.clone(), &name.to_string()) {
        name = format_ident!("{name}_");
    }
    name
}
