//! Expansion of a session struct: the type, and the methods of its first action.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use rumpsteak_front::SessionItem;
use rumpsteak_front::session::{Action, Direction, Tail};
use syn::{Attribute, parse_quote};

use super::expansion::Expansion;
use super::parts::Parts;
use crate::tokens;

impl Expansion<'_> {
    pub(super) fn structure(&self, parts: &Parts<'_>) -> TokenStream {
        let SessionItem { attributes, name, .. } = self.item;
        let session = self.nominal(parts, 0, name, attributes, self.default());
        let rest = self.rest(parts);
        quote!(#session #rest)
    }

    /// A struct for a chain from an action on.
    fn nominal(
        &self,
        parts: &Parts<'_>,
        from: usize,
        name: &Ident,
        attributes: &[Attribute],
        (default, picture): (Option<TokenStream>, Option<TokenStream>),
    ) -> TokenStream {
        let (krate, role, visibility) = (self.krate, &self.role, &self.item.visibility);
        let session = self.session(parts, from);
        let bound = self.bound(parts.chain, &session);
        let identity = self.identity(name);
        let (kind, parameters, methods) = self.first(parts, from);
        let debug = self.debug(name, attributes, &quote!(::core::stringify!(#name)));
        let place = name.span();
        let head = tokens::at(&quote!(struct #name<'s, #role: #krate::Role #default>), place);
        let body = tokens::at(&quote!((#session);), place);
        let shown = self.scope.place(name);
        let named = |prefix: &str| {
            let name = format_ident!("{prefix}{kind}");
            tokens::at(&quote!(#krate::states::#name #parameters), shown)
        };
        let (not_over, wrong) = (named("To"), self.wrong_methods(kind, &named("Not"), shown));
        let end = Ident::new("end", shown);
        quote! {
            #(#attributes)*
            #picture
            #[must_use = "the session stops here, and the role is poisoned, unless you go on"]
            #visibility #head #body

            #identity
            #debug

            #[automatically_derived]
            impl<'s, #role> #krate::states::Session for #name<'s, #role>
            where
                #role: #krate::Role,
                #bound
            {
                type State = #krate::states::State<'s, #role>;

                const BY_MACRO: #krate::private::ByMacro = #krate::private::ByMacro(());

                #[inline]
                fn from_state(state: #krate::states::State<'s, #role>) -> Self {
                    Self(#krate::states::Session::from_state(state))
                }

                fn into_state(
                    self,
                    by: #krate::private::ByMacro,
                ) -> #krate::states::State<'s, #role> {
                    #krate::states::Session::into_state(self.0, by)
                }
            }

            #[allow(dead_code, reason = "a process may use either way in")]
            impl<'s, #role: #krate::Role> #name<'s, #role> {
                /// The session inside.
                #[inline]
                #visibility fn into_session(self) -> #session {
                    self.0
                }

                #methods
                #wrong

                #[doc(hidden)]
                #visibility fn #end<__T>(self, _: __T) -> #krate::states::Ended<'s, #role, __T>
                where
                    #krate::states::State<'s, #role>: #not_over,
                {
                    ::core::unreachable!()
                }
            }
        }
    }

    /// The structs that a chain is cut into.
    pub(super) fn rest(&self, parts: &Parts<'_>) -> TokenStream {
        let structs = parts.cuts().map(|cut| {
            let docs = format!("The rest of `{}`, from action {} on.", parts.name, cut + 1);
            let attributes = [parse_quote!(#[doc = #docs])];
            self.nominal(parts, cut, &parts.part(cut), &attributes, (None, None))
        });
        structs.collect()
    }

    /// The methods of other actions than this kind, which no session has: rustc reports the bound
    /// `not`. None for a kind without methods of its own.
    fn wrong_methods(&self, kind: &str, not: &TokenStream, place: Span) -> TokenStream {
        let (krate, role, visibility) = (self.krate, &self.role, &self.item.visibility);
        let kinds = ["Receive", "Branch", "Send", "Select"];
        let wrong = kinds.into_iter().filter(|of| kinds.contains(&kind) && *of != kind);
        let wrong = wrong.flat_map(|kind| {
            let (label, each) = match kind {
                "Send" | "Select" => (quote!(, _: __M), quote!((usize) -> __M)),
                _ => (quote!(), quote!((usize, __M))),
            };
            let each = quote!(, _: impl ::core::ops::FnMut #each);
            [("", label), ("_each", each)].map(|(suffix, argument)| {
                let name = Ident::new(&(kind.to_lowercase() + suffix), place);
                quote! {
                    #[doc(hidden)]
                    #visibility fn #name<__Then, __M>(self #argument)
                    -> ::core::future::Ready<#krate::Result<__Then>>
                    where
                        #krate::states::State<'s, #role>: #not,
                    {
                        ::core::unreachable!()
                    }
                }
            })
        });
        wrong.collect()
    }

    /// The kind of the action that is left and its parameters, for the names of bounds, and its
    /// methods. A gather, a race and another item have only `into_session`. As in the runtime, the
    /// bounds are on the methods, so that rustc reports the failing bound.
    fn first(&self, parts: &Parts<'_>, from: usize) -> (&'static str, TokenStream, TokenStream) {
        match (parts.chain.actions.get(from), &parts.chain.tail) {
            (Some(action), _) => {
                let Action { direction, peer, label, .. } = action;
                let kind = match direction {
                    Direction::Send => "Send",
                    Direction::Receive => "Receive",
                };
                let methods = self.action_methods(action, &self.then(parts, from + 1));
                (kind, quote!(<#peer, #label>), methods)
            }
            (None, tail) if tail.gathers() => ("Gather", quote!(), quote!()),
            (None, Tail::Choice { direction, peer, choice, .. }) => {
                let (whom, peer) = (self.peer(peer.as_ref()), peer.as_ref());
                match direction {
                    Some(Direction::Receive) => {
                        ("Branch", quote!(<#whom>), self.branch_method(peer, choice))
                    }
                    Some(Direction::Send) => {
                        ("Select", quote!(<#whom>), self.select_methods(peer, choice))
                    }
                    None => ("Race", quote!(), quote!()),
                }
            }
            _ => {
                let then = self.session(parts, from);
                ("Do", quote!(<#then>), quote!())
            }
        }
    }

    fn action_methods(&self, action: &Action, then: &TokenStream) -> TokenStream {
        let Action { direction, peer, label, .. } = action;
        let (krate, role) = (self.krate, &self.role);
        let is_one = self.scope.is_for_one(label);
        let (route, state) = (self.route(peer, *direction, Some((label, is_one))), self.state());
        let bounds = quote!(#route #then: #krate::states::Session<#state>,);
        let types = quote!('s, #role, #peer, #label, #then);
        if self.scope.is_family(peer) {
            let with_label = quote!((#label, #then));
            let (kind, result) = match direction {
                Direction::Send => ("send", then),
                Direction::Receive if is_one => ("receive", &with_label),
                Direction::Receive => ("receive", then),
            };
            let types = [&quote!(), &quote!(#label), result, &bounds];
            return self.member_method(kind, is_one, types);
        }
        match direction {
            Direction::Send => self.methods(SEND, None, Some(label), &types, &bounds),
            Direction::Receive => self.methods(RECEIVE, None, None, &types, &bounds),
        }
    }

    /// A method that acts with one member of a family, or each: its parameters, the label or
    /// message, what it returns, and its bounds. `kind` is the name of the method for one role.
    fn member_method(
        &self,
        kind: &str,
        is_one: bool,
        [parameters, label, returned, bounds]: [&TokenStream; 4],
    ) -> TokenStream {
        let (krate, visibility) = (self.krate, &self.item.visibility);
        let method = format_ident!("{kind}_{}", if is_one { "one" } else { "each" });
        let sends = ["send", "select"].contains(&kind);
        let (takes, given) = match (sends, is_one) {
            (true, true) => (quote!(index: usize, label: #label), quote!(index, label)),
            (true, false) => {
                (quote!(label: impl ::core::ops::FnMut(usize) -> #label), quote!(label))
            }
            (false, true) => (quote!(), quote!()),
            (false, false) => (quote!(take: impl ::core::ops::FnMut(usize, #label)), quote!(take)),
        };
        quote! {
            /// Acts with members of the family, as the session inside.
            #visibility fn #method #parameters(
                self,
                #takes
            ) -> impl ::core::future::Future<Output = #krate::Result<#returned>>
            where
                #bounds
            {
                self.0.#method(#given)
            }
        }
    }

    /// True if a label of the choice is for one member, and false if one is for each.
    fn for_one(&self, choice: &Ident) -> Vec<bool> {
        let item = self.scope.sessions().find(|item| item.name == *choice);
        let variants = item.unwrap_or(self.item).variants().iter();
        let found: Vec<bool> = variants.map(|of| self.scope.is_for_one(of.head.label())).collect();
        [false, true].into_iter().filter(|is_one| found.contains(is_one)).collect()
    }

    fn select_methods(&self, peer: Option<&Ident>, choice: &Ident) -> TokenStream {
        let (krate, role) = (self.krate, &self.role);
        let (for_one, choice) = (self.for_one(choice), self.apply(choice));
        let (label, state) = (self.scope.parameter("L"), self.state());
        // With several peers, the method has a peer parameter.
        let any = self.scope.parameter("P");
        let (parameters, offered, peer) = match peer {
            Some(peer) => (quote!(#label), quote!(#label), peer),
            None => (quote!(#any, #label), quote!(#label, #any), &any),
        };
        let then = quote!(<#choice as #krate::states::Offers<#offered>>::Then);
        let bounds = |follows: TokenStream, route| {
            quote! {
                #route
                #choice: #krate::states::Choice<#state>
                    + #krate::states::Offers<#offered, Then: #krate::states::#follows>,
            }
        };
        if self.scope.is_family(peer) {
            let methods = for_one.into_iter().map(|is_one| {
                let route = self.route(peer, Direction::Send, Some((&label, is_one)));
                let bounds = bounds(quote!(Session<#state>), Some(route));
                let types = [&quote!(<#label>), &quote!(#label), &then, &bounds];
                self.member_method("select", is_one, types)
            });
            return methods.collect();
        }
        let bounds = bounds(quote!(Follows<'s, #role, #peer, #label>), None);
        let types = quote!('s, #role, #peer, #label, #then);
        self.methods(SELECT, Some(&parameters), Some(&label), &types, &bounds)
    }

    fn branch_method(&self, peer: Option<&Ident>, choice: &Ident) -> TokenStream {
        let (krate, role) = (self.krate, &self.role);
        let (for_one, choice) = (self.for_one(choice), self.apply(choice));
        let (state, message) = (self.state(), self.message());
        let route = peer.map(|peer| self.route(peer, Direction::Receive, None));
        let peers = peer.is_none().then(|| quote!(, Peers: #krate::states::Peers<#role>));
        let bounds = |more| {
            quote! {
                #route
                #choice: #krate::states::Choice<#state, Message = #message #more>,
            }
        };
        if peer.is_some_and(|peer| self.scope.is_family(peer)) {
            let methods = for_one.into_iter().map(|is_one| {
                let members = self.members(is_one);
                let bounds = bounds(Some(quote!(, Members = #members)));
                let types = [&quote!(), &quote!(#message), &choice, &bounds];
                self.member_method("branch", is_one, types)
            });
            return methods.collect();
        }
        let bounds = bounds(peers);
        let peer = self.peer(peer);
        self.methods(BRANCH, None, None, &quote!('s, #role, #peer, #choice), &bounds)
    }

    /// The bound for the role's route to `peer`, and for the label that it carries: for one member
    /// if it is a family, or for each.
    fn route(&self, peer: &Ident, way: Direction, label: Option<(&Ident, bool)>) -> TokenStream {
        let (krate, role, message) = (self.krate, &self.role, self.message());
        let link = match way {
            Direction::Receive => format_ident!("Incoming"),
            Direction::Send => format_ident!("Outgoing"),
        };
        let is_family = self.scope.is_family(peer);
        let label = label.map(|(label, is_one)| {
            let members = is_family.then(|| self.members(is_one)).map(|it| quote!(, Members = #it));
            quote!(, Message: #krate::Message<#label #members>)
        });
        let link = quote!(#krate::transport::#link<#message>);
        let link = match is_family {
            true => quote!(#krate::transport::Each<Link: #link + 'static>),
            false => link,
        };
        quote! {
            #role: #krate::transport::Route<
                #peer,
                Link: #link
                #label
            >,
        }
    }

    /// The members to whom a label goes, or from whom it comes.
    fn members(&self, is_one: bool) -> TokenStream {
        let krate = self.krate;
        if is_one { quote!(#krate::states::OneMember) } else { quote!(#krate::states::EachMember) }
    }

    /// `State = …`: the state of this role's sessions.
    fn state(&self) -> TokenStream {
        let (krate, role) = (self.krate, &self.role);
        quote!(State = #krate::states::State<'s, #role>)
    }

    /// Methods that call the methods of the state inside.
    fn methods(
        &self,
        (state, methods): Methods,
        parameters: Option<&TokenStream>,
        label: Option<&Ident>,
        types: &TokenStream,
        bounds: &TokenStream,
    ) -> TokenStream {
        let (krate, visibility) = (self.krate, &self.item.visibility);
        let path = krate.to_string().replace(' ', "");
        let parameters = parameters.map(|parameters| quote!(<#parameters>));
        let argument = label.map(|_| quote!(label));
        let label = label.map(|label| quote!(, label: #label));
        let methods = methods.iter().map(|(method, future)| {
            let original = format!("{state}::{method}");
            let docs = format!(
                "As [`{original}`]({path}::states::{original}).\n\n# Errors\n\nAs `{original}`.\n\n\
                 # Cancel safety\n\nAs `{original}`: dropping the future poisons the role."
            );
            let [method, future] = [method, future].map(|name| format_ident!("{name}"));
            quote! {
                #[doc = #docs]
                #[inline]
                #visibility fn #method #parameters(self #label) -> #krate::states::#future<#types>
                where
                    #bounds
                {
                    self.0.#method(#argument)
                }
            }
        });
        methods.collect()
    }
}

/// A state of the runtime, and its methods with the futures that they return.
type Methods = (&'static str, &'static [(&'static str, &'static str)]);

const BRANCH: Methods = ("Branch", &[("branch", "Branching")]);
const RECEIVE: Methods = ("Receive", &[("receive", "Receiving")]);
const SELECT: Methods = ("Select", &[("select", "Sending"), ("select_or_return", "Returning")]);
const SEND: Methods = ("Send", &[("send", "Sending"), ("send_or_return", "Returning")]);
