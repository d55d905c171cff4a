//! `#[derive(Role)]`.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens as _, TokenStreamExt as _, quote, quote_spanned};
use rumpsteak_contract::RoleItem;
use rumpsteak_contract::canonical::number;
use rumpsteak_contract::role::{ROLE_ATTRIBUTES, Route};
use rumpsteak_contract::verdict::{Kind, Proof, Queue, RoleName};
use syn::spanned::Spanned as _;
use syn::{Error, Result};

use crate::tokens::{at, declared, member};
use crate::verdict::{self, Missing, Verdict};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let item = match RoleItem::parse(input.clone()) {
        Ok(item) => item,
        Err(error) => {
            let (error, stub) = (error.into_compile_error(), stub_of_broken(input));
            return quote!(#error #stub);
        }
    };
    derive(&item).unwrap_or_else(|error| {
        let (error, stub) = (error.into_compile_error(), stub(&item));
        quote!(#error #stub)
    })
}

/// What stands in for a struct that cannot be read.
fn stub_of_broken(item: TokenStream) -> Option<TokenStream> {
    let name = declared(item.clone())?;
    let message = argument(item.clone(), "message").or_else(|| {
        let peer = argument(item, "route")?;
        Some(quote!(<#peer as ::rumpsteak_runtime::Role>::Message))
    })?;
    Some(quote!(::rumpsteak_runtime::private::stub!(role #name, #message);))
}

/// The argument of the first attribute of this name, on the struct or on a field.
fn argument(tokens: TokenStream, of: &str) -> Option<TokenStream> {
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match (tree, trees.peek()) {
            (TokenTree::Ident(name), Some(TokenTree::Group(argument))) if name == of => {
                return Some(argument.stream());
            }
            (TokenTree::Group(group), _) => {
                if let Some(found) = argument(group.stream(), of) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// What stands in for a role with an error.
fn stub(item: &RoleItem) -> Option<TokenStream> {
    let RoleItem { name, krate, message, .. } = item;
    let message = match (message, item.routes.first()) {
        (Some(message), _) => message.to_token_stream(),
        (None, Some(Route { peer, .. })) => quote!(<#peer as #krate::Role>::Message),
        (None, None) => return None,
    };
    let played = played(item).1;
    item.parameters
        .is_none()
        .then(|| quote!(#krate::private::stub!(role #name, #message, #played);))
}

/// The verdict on a role, and what it plays.
fn played(item: &RoleItem) -> (Verdict, TokenStream) {
    let krate = &item.krate;
    let (verdict, RoleName { protocol, role }) = verdict_on(item);
    // The error of a role without a protocol is enough: its set has nothing to add.
    let is_told = verdict.problems.is_empty() || !protocol.is_empty();
    let number = if is_told { number(&[&protocol, &role]) } else { 0 };
    let Proof { system: (system, _), projections, on_demand, closed, .. } = &verdict.proof;
    let played = quote! {
        #krate::private::Played {
            protocol: #protocol,
            role: #role,
            number: #number,
            system: #system,
            module: ::core::module_path!(),
            projections: #projections,
            on_demand: &[#(#on_demand),*],
            closed: #closed,
        }
    };
    (verdict, played)
}

/// A struct without the attributes that `#[derive(Role)]` reads.
pub(crate) fn without_attributes(item: TokenStream) -> TokenStream {
    let mut tokens = TokenStream::new();
    let mut trees = item.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match (tree, trees.peek()) {
            (TokenTree::Punct(punct), Some(TokenTree::Group(content)))
                if punct.as_char() == '#' && is_of_role(content) =>
            {
                trees.next();
            }
            (TokenTree::Group(group), _) => {
                let inner = without_attributes(group.stream());
                tokens.append(Group::new(group.delimiter(), inner));
            }
            (tree, _) => tokens.append(tree),
        }
    }
    tokens
}

fn is_of_role(content: &Group) -> bool {
    let name = content.stream().into_iter().next();
    name.is_some_and(|name| ROLE_ATTRIBUTES.contains(&&*name.to_string()))
}

fn derive(item: &RoleItem) -> Result<TokenStream> {
    if let Some(parameter) = item.parameters {
        return Err(Error::new(
            parameter,
            "a role has no parameters: it is one participant of one protocol",
        ));
    }
    let Some(message) = &item.message else {
        return Err(Error::new(
            item.name.span(),
            "expected the message type of the role: add `#[message(Label)]`",
        ));
    };
    check_routes(item)?;

    let (name, krate) = (&item.name, &item.krate);
    let (verdict, played) = played(item);
    let problems = verdict.problems;
    if let Some(message) = verdict.instead {
        return Ok(quote!(#krate::private::stub!(role #name, #message, #played); #problems));
    }
    let (_, queues) = verdict.proof.system;
    let methods = methods(item);
    let implementations = item.routes.iter();
    let implementations =
        implementations.map(|route| implement_route(item, route, &capacity(&queues, route)));
    let wiring = wiring(item);
    let leaving = leaving(item);
    Ok(quote! {
        #[automatically_derived]
        impl #krate::Role for #name {
            const PLAYED: #krate::private::ByMacro<#krate::private::Played> =
                #krate::private::ByMacro(#played);

            type Message = #message;
        }

        #[automatically_derived]
        impl #krate::private::Participant for #name {
            #methods
        }
        #(#implementations)*
        #wiring
        #leaving
        #problems
    })
}

/// The verdict on the role, and the names of the protocol and of the role in it, by which proofs
/// know it: those that the build script found, so that two spellings are one role.
///
/// Without a verdict no session of the role runs, which is no problem here. If there are verdicts,
/// but none for this role, then it has a name that no proof holds for.
fn verdict_on(item: &RoleItem) -> (Verdict, RoleName) {
    let found = verdict::find(Kind::Role, &item.name, &item.key, &item.krate);
    let written = match (&found, &item.link) {
        (Err(Missing::Unverified(_)), Some(link)) => (link.protocol.to_string(), link.role.clone()),
        (Err(_), Some(link)) => (link.protocol.to_string(), format!("{} (unseen)", link.role)),
        _ => (String::new(), item.name.to_string()),
    };
    let mut verdict = found.unwrap_or_default();
    let (protocol, role) = written;
    let name = verdict.proof.plays.take();
    (verdict, name.unwrap_or(RoleName { protocol, role }))
}

/// The methods that go through all routes of a role.
fn methods(item: &RoleItem) -> TokenStream {
    let (krate, message) = (&item.krate, &item.message);
    let [mut visits, mut begins, mut ends, mut closes, mut once]: [TokenStream; 5] =
        Default::default();
    // All spans are those of the field's type, so that rustc says only once that it is no route.
    for route in &item.routes {
        let (span, peer) = (route.ty.span(), route.peer.to_string());
        let (krate, member) = (at(krate, span), member(route.field.as_ref(), route.index));
        visits.extend(
            quote_spanned!(span=> visit(#peer, #krate::transport::Link::mark(&self.#member));),
        );
        let (name, with) = (&item.name, &route.peer);
        let between = quote_spanned!(span=> #krate::private::Between::<#name, #with>);
        begins.extend(quote_spanned! {span=>
            let ready = #krate::private::poll_begin::<#message, _>(
                &mut self.#member,
                const { #between::COUNTS },
                waker,
                ready,
            );
        });
        ends.extend(quote_spanned! {span=>
            #krate::private::complete::<#message, _>(&mut self.#member, const { #between::COUNTS });
        });
        once.extend(quote_spanned!(span=> #between::ONCE,));
        closes.extend(quote_spanned!(span=> #krate::transport::Link::close(&mut self.#member);));
    }
    // A role without routes visits none.
    let is_alone = item.routes.is_empty();
    let visit = if is_alone { quote!(_) } else { quote!(mut visit) };
    let waker = if is_alone { quote!(_) } else { quote!(waker) };
    let routes = item.routes.len();
    let imported = quote! {
        #[allow(unused_imports, reason = "only a peer with an error needs it")]
        use #krate::private::NotBetween as _;
    };
    quote! {
        const ROUTES: usize = #routes;

        const ONCE: ::core::option::Option<&'static str> = {
            #imported
            #krate::private::first(&[#once])
        };

        #[inline]
        fn for_each_mark<'a>(
            &'a self,
            #visit: impl ::core::ops::FnMut(&'static str, &'a #krate::transport::Mark),
        ) {
            #visits
        }

        #[inline]
        fn poll_begin(&mut self, #waker: &::core::task::Waker) -> ::core::task::Poll<()> {
            #imported
            let ready = ::core::task::Poll::Ready(());
            #begins
            ready
        }

        #[inline]
        fn complete(&mut self) {
            #imported
            #ends
        }

        fn close(&mut self) {
            #closes
        }
    }
}

/// Each field must be a route, and no peer may have two.
fn check_routes(item: &RoleItem) -> Result<()> {
    if let Some(field) = item.other_field {
        return Err(Error::new(
            field,
            "expected the role at the other end: `#[route(S)]`. Each field of a role is a route; keep other data beside the role",
        ));
    }
    for (index, Route { peer, .. }) in item.routes.iter().enumerate() {
        if peer.as_ident() == Some(&item.name) {
            return Err(Error::new(peer.span(), "a role has no route to itself"));
        }
        let path = peer.to_string();
        let mut earlier = item.routes[..index].iter();
        if earlier.any(|earlier| earlier.peer.to_string() == path) {
            return Err(Error::new(
                peer.span(),
                format_args!("a second route to `{path}`: the role has one route for each peer"),
            ));
        }
    }
    Ok(())
}

/// How much room the queue of a route needs, as a constant.
fn capacity(queues: &[Queue], route: &Route) -> TokenStream {
    let queue = queues.iter().find(|(index, ..)| *index == route.index);
    let capacity = queue.and_then(|(.., capacity)| capacity.parse().ok());
    capacity.unwrap_or_else(|| quote!(Growable))
}

fn implement_route(item: &RoleItem, route: &Route, capacity: &TokenStream) -> TokenStream {
    let name = &item.name;
    let Route { peer, field, ty, .. } = route;
    let member = member(field.as_ref(), route.index);
    let krate = at(&item.krate, ty.span());
    quote_spanned! {ty.span()=>
        #[automatically_derived]
        impl #krate::transport::Route<#peer> for #name {
            type Link = #ty;
            const CAPACITY: #krate::private::ByMacro<#krate::channel::Capacity> =
                #krate::private::ByMacro(#krate::channel::Capacity::#capacity);

            #[inline]
            fn route(&mut self) -> &mut #ty {
                &mut self.#member
            }
        }
    }
}

/// What `Detached` needs: the role with its routes, taken from where it is.
fn leaving(item: &RoleItem) -> TokenStream {
    let (name, krate) = (&item.name, &item.krate);
    let types = item.routes.iter().map(|route| &route.ty);
    let members = item.routes.iter().map(|route| member(route.field.as_ref(), route.index));
    let members: Vec<_> = members.collect();
    let visit = if members.is_empty() { quote!(_) } else { quote!(mut visit) };
    quote! {
        impl<__To> #krate::private::Leaves<__To> for #name
        where
            #(#types: #krate::private::Moves<__To>,)*
        {
            fn take(&mut self) -> Self {
                Self { #(#members: #krate::private::Moves::<__To>::take(&mut self.#members)),* }
            }

            fn into_routes(
                self,
                #visit: impl ::core::ops::FnMut(::std::boxed::Box<dyn ::core::any::Any>),
            ) {
                #(visit(::std::boxed::Box::new(self.#members));)*
            }
        }
    }
}

/// What `#[derive(Roles)]` needs: see `rumpsteak_runtime::private::wiring`.
fn wiring(item: &RoleItem) -> TokenStream {
    let (name, krate) = (&item.name, &item.krate);
    let peers: Vec<_> = item.routes.iter().map(|route| &route.peer).collect();
    let members = item.routes.iter();
    let members = members.map(|route| member(route.field.as_ref(), route.index));
    let indices = 0..peers.len();
    // All spans are those of the struct: rustc advises against bounds that a derive makes.
    let bounds = item.routes.iter().map(|Route { peer, ty, .. }| {
        let krate = at(krate, ty.span());
        quote_spanned! {ty.span()=>
            SetOfRoles: #krate::private::wiring::Seats<#peer>,
            #peer: #krate::private::wiring::Joins<#name, SetOfRoles>,
            <#name as #krate::transport::Route<#peer>>::Link: #krate::transport::Pair<
                <SetOfRoles as #krate::private::wiring::Seats<#peer>>::Far<
                    <#name as #krate::transport::Route<#peer>>::Link,
                    <#peer as #krate::private::wiring::Joins<#name, SetOfRoles>>::Link,
                >,
            >,
        }
    });
    let placed = at(krate, name.span());
    let wire = quote_spanned!(name.span()=> #placed::private::wiring::Wire<SetOfRoles>);
    // A role without routes needs no wiring.
    let wiring = if peers.is_empty() { quote!(_) } else { quote!(wiring) };
    quote! {
        impl<SetOfRoles> #wire for #name
        where
            #(#bounds)*
        {
            fn wire(#wiring: &mut #krate::private::wiring::Wiring<'_>) -> Self {
                Self { #(#members: wiring.connect::<#name, #peers, SetOfRoles, #indices>()),* }
            }
        }
    }
}
