//! `#[session]`.
//!
//! A session item is written without the lifetime `'s` of the session and without its role `R`. The
//! expansion inserts both, and seals the item to its verdict.
//!
//! ```text
//! #[session(K)] type Kernel = Send<S, Ready, KernelLoop>;
//!
//!     type Kernel<'s, R = K> = Send<'s, R, S, Ready, KernelLoop<'s, R>>;
//!     impl<'s> Plays<Kernel<'s, K>> for K {}                     the proof for try_session
//!     const _: () = assert!(fingerprint of Kernel<'static, K> == fingerprint of what was verified);
//!
//! #[session] struct KernelLoop(Send<S, Ready, Self>);
//!
//!     struct KernelLoop<'s, R: Role>(Send<'s, R, S, Ready, KernelLoop<'s, R>>);
//!     impl Session for KernelLoop                                asserts its body when it is entered
//!     impl Structure for KernelLoop                              its identity in other fingerprints
//!     impl KernelLoop { into_session, send, send_or_return }
//!
//! #[session] enum Choice { Go(Go, Branch<A, Self>), Stop(Stop, End) }
//!
//!     enum Choice<'s, R: Role> { Go(Go, Branch<'s, R, A, Choice<'s, R>>), Stop(Stop, End<'s, R>) }
//!     impl Choice, Offers<Go>, Offers<Stop>, Structure for Choice
//! ```
//!
//! An item whose verification failed expands all the same, proof included where rustc allows one,
//! beside the `compile_error!`s: types that exist cause no errors elsewhere, and nothing runs, because the
//! crate does not compile.

use proc_macro2::{Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _, format_ident, quote, quote_spanned};
use rumpsteak_contract::session::{Action, Chain, Direction, Form, Path, Tail, Variant};
use rumpsteak_contract::token::Span;
use rumpsteak_contract::verdict::{self as recorded, Body, Kind, Outcome, Proof};
use rumpsteak_contract::{Input, SessionItem};
use syn::Error;

use crate::head::{self, Head};
use crate::verdict::{self, Lookup};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let inputs = [arguments.clone(), item.clone()].map(Input::new);
    let [first, rest] = inputs.each_ref().map(Input::tokens);
    match SessionItem::parse(&first, &rest) {
        Ok(parsed) => Expansion::new(&parsed, arguments, item).expand(),
        Err(error) => verdict::error(error.span().rustc(), error),
    }
}

struct Expansion<'a> {
    item: &'a SessionItem,
    /// The arguments of the attribute and the item, as rustc gave them.
    source: TokenStream,
    /// What the item begins with.
    head: Head,
    /// The attributes of the variants, if the item has any.
    docs: Vec<TokenStream>,
    /// The name of the parameter for the role.
    role: Ident,
    /// What is wrong: `compile_error!`s.
    problems: TokenStream,
    /// What was verified, if something was.
    proof: Proof,
    /// Whether the build script found nothing wrong with the item and all that it is made of.
    passed: bool,
    /// Whether a root gets its proof.
    plays: bool,
}

impl<'a> Expansion<'a> {
    fn new(item: &'a SessionItem, arguments: TokenStream, source: TokenStream) -> Self {
        let (mut problems, mut proof, mut plays) = (TokenStream::new(), Proof::default(), true);
        let mut passed = false;
        match verdict::find(Kind::Session, &item.name, item.hash()) {
            Lookup::Found(entry) => match entry.outcome {
                Outcome::Failed {
                    id,
                    plays: playable,
                    problems: found,
                } => {
                    plays = playable;
                    problems = verdict::errors(&found, |token| item.span_of(token));
                    proof.id = id;
                }
                Outcome::FailedElsewhere(found) => proof = found,
                Outcome::Passed(found) => (proof, passed) = (found, true),
            },
            // One message is enough: a part of a session cannot run without a root.
            Lookup::Unverified(reason) if item.role.is_some() => {
                problems = verdict::unverified(&item.name, &reason);
            }
            Lookup::Unverified(_) => {}
            Lookup::Unseen => problems = verdict::unseen(&item.name),
            Lookup::Typing => plays = false,
        }
        if item.role.is_some()
            && problems.is_empty()
            && (proof.plays.is_none() || proof.body.is_none())
        {
            plays = false;
        }
        let head = Head::of(source.clone());
        let docs = head::of_variants(source.clone());
        let mut tokens = arguments;
        tokens.extend(source);
        Self {
            item,
            role: fresh(&tokens, "R"),
            source: tokens,
            head,
            docs,
            problems,
            proof,
            passed,
            plays,
        }
    }

    fn expand(&self) -> TokenStream {
        let item = match &self.item.form {
            Form::Alias(chain) => self.alias(chain),
            Form::Choice(variants) => self.choice(variants),
            Form::Struct(chain) => self.structure(chain),
        };
        let root = self.item.role.as_ref().map(|role| self.root(role));
        let problems = &self.problems;
        quote!(#item #root #problems)
    }

    fn alias(&self, chain: &Chain) -> TokenStream {
        let Head {
            attributes,
            visibility,
        } = &self.head;
        let name = &self.item.name;
        let parameters = self.parameters(None);
        let session = self.session(&chain.actions, &chain.tail);
        quote! {
            #attributes
            #visibility type #name #parameters = #session;
        }
    }

    /// `<'s, R: Bound = K>`, where only a root has a default.
    fn parameters(&self, bound: Option<TokenStream>) -> TokenStream {
        let role = &self.role;
        let bound = bound.map(|bound| quote!(: #bound));
        let default = self.item.role.as_ref().map(|default| quote!(= #default));
        quote!(<'s, #role #bound #default>)
    }

    /// The proof that the role may run this session, and the assertion that it was this session
    /// that was verified.
    fn root(&self, role: &Path) -> TokenStream {
        let name = &self.item.name;
        let machine = self.proof.machine.as_ref().map(machine);
        let plays = self.plays.then(|| {
            quote_spanned! {name.span().rustc()=>
                #[automatically_derived]
                impl<'s> ::rumpsteak_runtime::private::Plays<#name<'s, #role>> for #role {
                    #machine
                }
            }
        });
        let assertion = match (&self.proof.plays, &self.proof.body) {
            (Some(verified), Some(Body::Chain(chain))) => {
                let recorded::RoleName {
                    protocol,
                    role: verified,
                } = verified;
                let expected = chain_fingerprint(chain);
                // A struct answers with its identity; its body is asserted in `structure`.
                let expected = match self.proof.id {
                    Some(id) => quote!(#id),
                    None => expected,
                };
                let text = verdict::resolved_differently(name);
                Some(quote_spanned! {name.span().rustc()=>
                    const _: () = ::core::assert!(
                        ::rumpsteak_runtime::private::fingerprint::root(
                            <#role as ::rumpsteak_runtime::Role>::PROTOCOL,
                            <#role as ::rumpsteak_runtime::Role>::NAME,
                            <#name<'static, #role> as ::rumpsteak_runtime::private::Structure>::FINGERPRINT,
                        ) == ::rumpsteak_runtime::private::fingerprint::root(#protocol, #verified, #expected),
                        #text
                    );
                })
            }
            _ => None,
        };
        let counted = self.passed.then(|| {
            let system = self.proof.system.as_ref().map_or(0, |system| system.id);
            let text = verdict::not_counted(name, role);
            quote_spanned! {name.span().rustc()=>
                const _: () = ::core::assert!(
                    ::rumpsteak_runtime::private::wiring::counted::<#role>(#system),
                    #text
                );
            }
        });
        quote!(#plays #assertion #counted)
    }

    /// The identity of a struct or enum, in the fingerprints of what contains it.
    fn identity(&self) -> TokenStream {
        let (name, role) = (&self.item.name, &self.role);
        // Where nothing was verified, the identity matches no proof.
        let id = self.proof.id.unwrap_or_else(|| self.item.hash());
        quote_spanned! {name.span().rustc()=>
            #[automatically_derived]
            impl<'s, #role: ::rumpsteak_runtime::Role> ::rumpsteak_runtime::private::Structure for #name<'s, #role> {
                const FINGERPRINT: u64 = #id;
            }
        }
    }

    /// `Debug`, which shows where the session is and not what it carries: labels need no `Debug`.
    /// An item that derives its own keeps that.
    fn debug(&self, body: &TokenStream) -> Option<TokenStream> {
        let (name, role) = (&self.item.name, &self.role);
        (!mentions(self.head.attributes.clone(), "Debug")).then(|| {
            quote! {
                #[automatically_derived]
                impl<'s, #role: ::rumpsteak_runtime::Role> ::core::fmt::Debug for #name<'s, #role> {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        #body
                    }
                }
            }
        })
    }

    fn structure(&self, chain: &Chain) -> TokenStream {
        let Head {
            attributes,
            visibility,
        } = &self.head;
        let name = &self.item.name;
        let role = &self.role;
        let parameters = self.parameters(Some(quote!(::rumpsteak_runtime::Role)));
        let session = self.session(&chain.actions, &chain.tail);
        let identity = self.identity();
        let assertion = match &self.proof.body {
            Some(Body::Chain(verified)) => {
                let expected = chain_fingerprint(verified);
                let text = verdict::resolved_differently(name);
                Some(quote_spanned! {name.span().rustc()=>
                    const {
                        ::core::assert!(
                            <#session as ::rumpsteak_runtime::private::Structure>::FINGERPRINT == #expected,
                            #text
                        );
                    }
                })
            }
            _ => None,
        };
        let methods = self.methods(chain);
        let debug = self.debug(&quote!(::core::fmt::Formatter::write_str(
            f,
            ::core::stringify!(#name)
        )));
        quote! {
            #attributes
            #[must_use = "the session stops here, and the role is poisoned, unless you go on"]
            #visibility struct #name #parameters(#session);

            #identity
            #debug

            #[automatically_derived]
            impl<'s, #role> ::rumpsteak_runtime::Session for #name<'s, #role>
            where
                #role: ::rumpsteak_runtime::Role,
                #session: ::rumpsteak_runtime::Session<State = ::rumpsteak_runtime::State<'s, #role>> + ::rumpsteak_runtime::private::Structure,
            {
                type State = ::rumpsteak_runtime::State<'s, #role>;

                #[inline]
                fn from_state(state: ::rumpsteak_runtime::State<'s, #role>) -> Self {
                    #assertion
                    Self(::rumpsteak_runtime::Session::from_state(state))
                }
            }

            #[allow(dead_code, reason = "a process may use either way in")]
            impl<'s, #role: ::rumpsteak_runtime::Role> #name<'s, #role> {
                /// The session inside.
                #[inline]
                #visibility fn into_session(self) -> #session {
                    self.0
                }

                #methods
            }
        }
    }

    /// The methods of the action that a struct begins with. A struct that begins with another name
    /// has only `into_session`.
    ///
    /// Their bounds stand on the methods, as those of the states do: so rustc tells which one
    /// fails.
    fn methods(&self, chain: &Chain) -> TokenStream {
        let role = &self.role;
        let message = quote!(<#role as ::rumpsteak_runtime::Role>::Message);
        let state = quote!(State = ::rumpsteak_runtime::State<'s, #role>);
        if let Some((
            Action {
                direction,
                peer,
                label,
                ..
            },
            rest,
        )) = chain.actions.split_first()
        {
            let then = self.session(rest, &chain.tail);
            let link = link(*direction);
            let bounds = quote! {
                #role: ::rumpsteak_runtime::Route<
                    #peer,
                    Link: ::rumpsteak_runtime::#link<#message>,
                    Message: ::rumpsteak_runtime::Message<#label>,
                >,
                #then: ::rumpsteak_runtime::Session<#state>,
            };
            match direction {
                Direction::Send => {
                    let send = self.method(
                        "Send::send",
                        quote!(send(self, label: #label)),
                        &quote!(Sending<'s, #role, #peer, #label, #then>),
                        &bounds,
                    );
                    let send_or_return = self.method(
                        "Send::send_or_return",
                        quote!(send_or_return(self, label: #label)),
                        &quote!(Returning<'s, #role, #peer, #label, #then>),
                        &bounds,
                    );
                    quote!(#send #send_or_return)
                }
                Direction::Receive => self.method(
                    "Receive::receive",
                    quote!(receive(self)),
                    &quote!(Receiving<'s, #role, #peer, #label, #then>),
                    &bounds,
                ),
            }
        } else if let Tail::Choice {
            direction,
            peer,
            choice,
            ..
        } = &chain.tail
        {
            let choice = self.apply(choice);
            let label = fresh(&self.source, "L");
            let link = link(*direction);
            match direction {
                Direction::Send => {
                    let bounds = quote! {
                        #choice: ::rumpsteak_runtime::Offers<#label, #state>,
                        #role: ::rumpsteak_runtime::Route<
                            #peer,
                            Link: ::rumpsteak_runtime::#link<#message>,
                            Message: ::rumpsteak_runtime::Message<#label>,
                        >,
                    };
                    let then = quote!(<#choice as ::rumpsteak_runtime::Offers<#label>>::Then);
                    let select = self.method(
                        "Select::select",
                        quote!(select<#label>(self, label: #label)),
                        &quote!(Sending<'s, #role, #peer, #label, #then>),
                        &bounds,
                    );
                    let select_or_return = self.method(
                        "Select::select_or_return",
                        quote!(select_or_return<#label>(self, label: #label)),
                        &quote!(Returning<'s, #role, #peer, #label, #then>),
                        &bounds,
                    );
                    quote!(#select #select_or_return)
                }
                Direction::Receive => {
                    let bounds = quote! {
                        #role: ::rumpsteak_runtime::Route<#peer, Link: ::rumpsteak_runtime::#link<#message>>,
                        #choice: ::rumpsteak_runtime::Choice<#state, Message = #message>,
                    };
                    self.method(
                        "Branch::branch",
                        quote!(branch(self)),
                        &quote!(Branching<'s, #role, #peer, #choice>),
                        &bounds,
                    )
                }
            }
        } else {
            TokenStream::new()
        }
    }

    /// A method that returns the same future as the `original` of the state inside.
    fn method(
        &self,
        original: &str,
        signature: TokenStream,
        future: &TokenStream,
        bounds: &TokenStream,
    ) -> TokenStream {
        let visibility = &self.head.visibility;
        let (summary, errors, cancel_safety) = (
            format!("As [`{original}`](::rumpsteak_runtime::{original})."),
            format!("Those of `{original}`."),
            format!("That of `{original}`: dropping the future poisons the role."),
        );
        let method = format_ident!("{}", original.rsplit(':').next().unwrap_or(original));
        // Every method with an argument calls it `label`.
        let arguments =
            (!matches!(original, "Branch::branch" | "Receive::receive")).then(|| quote!(label));
        quote! {
            #[doc = #summary]
            ///
            /// # Errors
            ///
            #[doc = #errors]
            ///
            /// # Cancel safety
            ///
            #[doc = #cancel_safety]
            #[inline]
            #visibility fn #signature -> ::rumpsteak_runtime::#future
            where
                #bounds
            {
                self.0.#method(#arguments)
            }
        }
    }

    fn choice(&self, variants: &[Variant]) -> TokenStream {
        let Head {
            attributes,
            visibility,
        } = &self.head;
        let name = &self.item.name;
        let role = &self.role;
        let message = quote!(<#role as ::rumpsteak_runtime::Role>::Message);
        if let Some(problem) = repeated_label(variants) {
            // The build script says so, too, if it ran. Expanded, the impls would conflict.
            return if self.problems.is_empty() {
                problem
            } else {
                TokenStream::new()
            };
        }

        let docs: Vec<_> = variants
            .iter()
            .zip(&self.docs)
            .map(|(_, docs)| docs)
            .collect();
        let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
        let labels: Vec<_> = variants.iter().map(|variant| &variant.label).collect();
        let thens: Vec<_> = variants
            .iter()
            .map(|variant| self.session(&variant.then.actions, &variant.then.tail))
            .collect();
        let assertion = match &self.proof.body {
            Some(Body::Choice(verified)) => {
                let labels_verified = verified.iter().map(|(label, _)| label);
                let thens_verified = verified.iter().map(|(_, chain)| chain_fingerprint(chain));
                let text = verdict::resolved_differently(name);
                Some(quote_spanned! {name.span().rustc()=>
                    ::core::assert!(
                        ::rumpsteak_runtime::private::fingerprint::choice(&[#(
                            (
                                <#message as ::rumpsteak_runtime::Message<#labels>>::NAME,
                                <#thens as ::rumpsteak_runtime::private::Structure>::FINGERPRINT,
                            ),
                        )*]) == ::rumpsteak_runtime::private::fingerprint::choice(&[#((#labels_verified, #thens_verified),)*]),
                        #text
                    )
                })
            }
            _ => Some(quote!(())),
        };
        let identity = self.identity();
        let debug = self.debug(&quote! {
            ::core::fmt::Formatter::write_str(f, match self {
                #(Self::#names(..) => ::core::stringify!(#names),)*
            })
        });
        let wheres = quote! {
            #role: ::rumpsteak_runtime::Role,
            #(#message: ::rumpsteak_runtime::Message<#labels>,)*
            #(#thens: ::rumpsteak_runtime::Session<State = ::rumpsteak_runtime::State<'s, #role>> + ::rumpsteak_runtime::private::Structure,)*
        };
        quote! {
            #attributes
            #[allow(dead_code, reason = "what is selected is never constructed")]
            #visibility enum #name<'s, #role: ::rumpsteak_runtime::Role> {
                #(#docs #names(#labels, #thens),)*
            }

            #identity
            #debug

            #[automatically_derived]
            impl<'s, #role> ::rumpsteak_runtime::Choice for #name<'s, #role>
            where
                #wheres
            {
                type Message = #message;
                type State = ::rumpsteak_runtime::State<'s, #role>;

                const LABELS: &'static [&'static str] =
                    &[#(<#message as ::rumpsteak_runtime::Message<#labels>>::NAME),*];

                const VERIFIED: () = #assertion;

                #[inline]
                fn decide(
                    state: ::rumpsteak_runtime::State<'s, #role>,
                    message: #message,
                ) -> ::core::result::Result<Self, (::rumpsteak_runtime::State<'s, #role>, #message)> {
                    match ::rumpsteak_runtime::Labelled::tag(&message) {
                        #(
                            tag if tag == <#message as ::rumpsteak_runtime::Message<#labels>>::TAG => {
                                match <#message as ::rumpsteak_runtime::Message<#labels>>::downcast(message) {
                                    ::core::result::Result::Ok(label) => ::core::result::Result::Ok(
                                        Self::#names(label, ::rumpsteak_runtime::Session::from_state(state)),
                                    ),
                                    ::core::result::Result::Err(message) => ::core::result::Result::Err((state, message)),
                                }
                            }
                        )*
                        _ => ::core::result::Result::Err((state, message)),
                    }
                }
            }

            #(
                #[automatically_derived]
                impl<'s, #role> ::rumpsteak_runtime::Offers<#labels> for #name<'s, #role>
                where
                    #wheres
                {
                    type Then = #thens;
                }
            )*
        }
    }

    /// The type of a chain with all parameters, written from left to right: however long the chain,
    /// this does not recurse.
    fn session(&self, actions: &[Action], tail: &Tail) -> TokenStream {
        let role = &self.role;
        let mut tokens = TokenStream::new();
        for Action {
            constructor,
            peer,
            label,
            ..
        } in actions
        {
            tokens.extend(quote!(#constructor<'s, #role, #peer, #label,));
        }
        tokens.extend(match tail {
            Tail::Choice {
                constructor,
                peer,
                choice,
                ..
            } => {
                let choice = self.apply(choice);
                quote!(#constructor<'s, #role, #peer, #choice>)
            }
            Tail::End { constructor, .. } => quote!(#constructor<'s, #role>),
            Tail::Itself { span, .. } => self.itself(*span),
            Tail::Named(path) => self.apply(path),
        });
        for _ in actions {
            tokens.append(Punct::new('>', Spacing::Alone));
        }
        tokens
    }

    /// The item named by a path, with its parameters.
    fn apply(&self, path: &Path) -> TokenStream {
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
        let (name, role) = (self.item.name.located(span), &self.role);
        quote!(#name<'s, #role>)
    }
}

/// The machine that was verified, for `serialize`.
fn machine(machine: &recorded::Machine) -> TokenStream {
    let recorded::Machine {
        role,
        states,
        initial,
        transitions,
    } = machine;
    let transitions = transitions.iter().map(|transition| {
        let recorded::Transition {
            source,
            direction,
            peer,
            label,
            payload,
            target,
        } = transition;
        let sends = *direction == Direction::Send;
        quote!((#source, #sends, #peer, #label, &[#(#payload),*], #target))
    });
    quote! {
        const MACHINE: ::core::option::Option<::rumpsteak_runtime::private::Machine> =
            ::core::option::Option::Some(::rumpsteak_runtime::private::Machine {
                role: #role,
                states: #states,
                initial: #initial,
                transitions: &[#(#transitions),*],
            });
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

/// The trait of a route that goes this way.
fn link(direction: Direction) -> Ident {
    match direction {
        Direction::Receive => format_ident!("Incoming"),
        Direction::Send => format_ident!("Outgoing"),
    }
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

/// Two alternatives with one label could not be told apart.
fn repeated_label(variants: &[Variant]) -> Option<TokenStream> {
    let mut seen: Vec<String> = Vec::new();
    for variant in variants {
        let label = variant.label.to_string();
        if seen.contains(&label) {
            let error = Error::new(
                variant.label.span().rustc(),
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

/// The fingerprint of a chain as it was verified, written from the last action to the first: a
/// chain of statements, so that its length does not nest.
fn chain_fingerprint(chain: &recorded::Chain) -> TokenStream {
    let tail = match &chain.tail {
        recorded::Tail::Choice {
            direction,
            peer: recorded::RoleName { protocol, role },
            id,
        } => {
            let constructor = match direction {
                Direction::Receive => quote!(branch),
                Direction::Send => quote!(select),
            };
            quote!(::rumpsteak_runtime::private::fingerprint::#constructor(#protocol, #role, #id))
        }
        recorded::Tail::End => quote!(::rumpsteak_runtime::private::fingerprint::end()),
        recorded::Tail::Named(id) => id.to_token_stream(),
    };
    let steps = chain.actions.iter().rev().map(|action| {
        let recorded::Action { direction, peer: recorded::RoleName { protocol, role }, label } = action;
        let constructor = match direction {
            Direction::Receive => quote!(receive),
            Direction::Send => quote!(send),
        };
        quote!(let then = ::rumpsteak_runtime::private::fingerprint::#constructor(#protocol, #role, #label, then);)
    });
    quote!({
        let then: u64 = #tail;
        #(#steps)*
        then
    })
}
