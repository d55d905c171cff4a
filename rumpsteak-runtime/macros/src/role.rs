//! `#[derive(Role)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use rumpsteak_contract::role::Route;
use rumpsteak_contract::verdict::{Capacity, Kind, Outcome, RoleName, System, refused};
use rumpsteak_contract::{Input, RoleItem};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Field, Fields, Index, Member, Result};

use crate::verdict::{self, Lookup};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    derive(input).unwrap_or_else(Error::into_compile_error)
}

/// One route: a field and the role at its other end.
struct RouteField<'a> {
    peer: &'a Route,
    member: Member,
    field: &'a Field,
}

fn derive(input: TokenStream) -> Result<TokenStream> {
    let derive: DeriveInput = syn::parse2(input.clone())?;
    let item = RoleItem::parse(&Input::new(input).tokens()).map_err(verdict::spanned)?;
    if let Some(parameter) = derive.generics.params.first() {
        return Err(Error::new(
            parameter.span(),
            "a role has no parameters: it is one participant of one protocol",
        ));
    }
    if item.link.is_none()
        && let Some(role) = derive
            .attrs
            .iter()
            .find(|attribute| attribute.path().is_ident("role"))
    {
        return Err(Error::new(
            role.span(),
            "`#[role(…)]` names a role of a protocol: add `#[protocol(…)]`",
        ));
    }
    let Data::Struct(data) = &derive.data else {
        return Err(Error::new(
            item.name.span().rustc(),
            "expected a struct with one field for each peer",
        ));
    };
    let Some(message) = &item.message else {
        return Err(Error::new(
            item.name.span().rustc(),
            "expected the message type of the role: add `#[message(Label)]`",
        ));
    };
    let routes = routes(&item, &data.fields)?;

    let name = &item.name;
    let (problems, system) = verdict_on(&item);
    let system_id = system.as_ref().map_or(0, |system| system.id);
    let (protocol, role) = match &item.link {
        // Sessions of a role that is wrong have proofs that hold for this name only.
        Some(link) if !problems.is_empty() => (link.protocol.to_string(), refused(&link.role)),
        Some(link) => (link.protocol.to_string(), link.role.clone()),
        // A role without a protocol has the name that the set which it is verified with gives it.
        None => match plays(&item) {
            Some(verified) => (verified.protocol, verified.role),
            None => (String::new(), name.to_string()),
        },
    };
    let members = || {
        routes
            .iter()
            .map(|route| (&route.member, route.field.ty.span()))
    };
    let marks = members().map(|(member, span)| quote_spanned!(span=> || ::rumpsteak_runtime::Link::in_session(&self.#member)));
    let set = |mark: bool| {
        members().map(move |(member, span)| {
            quote_spanned!(span=> ::rumpsteak_runtime::Link::set_in_session(&mut self.#member, #mark);)
        })
    };
    let (begin, finish, abort) = (set(true), set(false), set(true));
    let close = members().map(|(member, span)| quote_spanned!(span=> ::rumpsteak_runtime::Link::close(&mut self.#member);));
    // A list of slots, one for each route: `(Option<A>, (Option<B>, ()))`.
    let seat = routes.iter().rev().fold(quote!(()), |rest, route| {
        let ty = &route.field.ty;
        quote!((::core::option::Option<#ty>, #rest))
    });
    let implementations = routes.iter().enumerate().map(|(index, route)| {
        implement_route(&item, index, route, capacity(system.as_ref(), route))
    });
    let wiring = wiring(&item, &data.fields, &routes);
    Ok(quote! {
        #[automatically_derived]
        impl ::rumpsteak_runtime::Role for #name {
            const PROTOCOL: &'static str = #protocol;
            const NAME: &'static str = #role;
            const SYSTEM: u64 = #system_id;
            type Message = #message;
            type Seat = #seat;

            #[inline]
            fn is_poisoned(&self) -> bool {
                false #(#marks)*
            }

            #[inline]
            fn begin(&mut self) {
                #(#begin)*
            }

            #[inline]
            fn finish(&mut self) {
                #(#finish)*
            }

            fn abort(&mut self) {
                #(#abort)*
                #(#close)*
            }
        }
        #(#implementations)*
        #wiring
        #problems
    })
}

/// Pairs the fields with their routes: each field must have one, and no peer may have two.
fn routes<'a>(item: &'a RoleItem, fields: &'a Fields) -> Result<Vec<RouteField<'a>>> {
    let mut routes: Vec<RouteField<'a>> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let Some(peer) = item.routes.iter().find(|route| route.index == index) else {
            return Err(Error::new(
                field.span(),
                "expected the role at the other end: `#[route(S)]`. Each field of a role is a route; keep other data beside the role",
            ));
        };
        let path = peer.peer.to_string();
        if peer.peer.as_ident().is_some_and(|peer| *peer == item.name) {
            return Err(Error::new(
                peer.peer.span().rustc(),
                "a role has no route to itself",
            ));
        }
        if routes
            .iter()
            .any(|earlier| earlier.peer.peer.to_string() == path)
        {
            return Err(Error::new(
                peer.peer.span().rustc(),
                format_args!("a second route to `{path}`: the role has one route for each peer"),
            ));
        }
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index::from(index)),
        };
        routes.push(RouteField {
            peer,
            member,
            field,
        });
    }
    Ok(routes)
}

/// How much room the queue of a route needs, as a constant.
fn capacity(system: Option<&System>, route: &RouteField<'_>) -> TokenStream {
    let queues = system.map_or(&[][..], |system| &system.queues);
    let queue = queues.iter().find(|queue| queue.route == route.peer.index);
    match queue.map(|queue| queue.capacity) {
        Some(Capacity::AtMost(most)) => quote!(::rumpsteak_runtime::Capacity::AtMost(#most)),
        Some(Capacity::Growable) | None => quote!(::rumpsteak_runtime::Capacity::Growable),
        Some(Capacity::Waits(room)) => quote!(::rumpsteak_runtime::Capacity::Waits(#room)),
    }
}

fn implement_route(
    item: &RoleItem,
    index: usize,
    route: &RouteField<'_>,
    capacity: TokenStream,
) -> TokenStream {
    let name = &item.name;
    let RouteField {
        peer,
        member,
        field,
    } = route;
    let (peer, ty) = (&peer.peer, &field.ty);
    // The seat is a list of slots: the one at `index` is `.1` so many times, then `.0`.
    let rest = std::iter::repeat_n(quote!(.1), index);
    quote_spanned! {ty.span()=>
        #[automatically_derived]
        impl ::rumpsteak_runtime::Route<#peer> for #name {
            type Link = #ty;

            #[inline]
            fn route(&mut self) -> &mut #ty {
                &mut self.#member
            }
        }

        impl<__Board> ::rumpsteak_runtime::private::wiring::Joins<#peer, __Board> for #name
        where
            __Board: ::rumpsteak_runtime::private::wiring::Seats<#name>,
        {
            type Link = #ty;

            const NAME: &'static str = <Self as ::rumpsteak_runtime::Role>::NAME;
            const SYSTEM: u64 = <Self as ::rumpsteak_runtime::Role>::SYSTEM;
            const CAPACITY: ::rumpsteak_runtime::Capacity = #capacity;

            fn slot(board: &mut __Board) -> &mut ::core::option::Option<#ty> {
                &mut ::rumpsteak_runtime::private::wiring::Seats::<#name>::seat(board) #(#rest)* .0
            }
        }
    }
}

/// What `#[derive(Roles)]` needs: see `rumpsteak_runtime::private::wiring`.
fn wiring(item: &RoleItem, fields: &Fields, routes: &[RouteField<'_>]) -> TokenStream {
    let name = &item.name;
    let types: Vec<_> = routes.iter().map(|route| &route.field.ty).collect();
    let peers: Vec<_> = routes.iter().map(|route| &route.peer.peer).collect();
    let ends = peers.iter().map(
        |peer| quote!(::rumpsteak_runtime::private::wiring::connect::<#name, #peer, __Board>(board)),
    );
    let members = routes.iter().map(|route| &route.member);
    let (board, body) = match fields {
        // A role without routes: the board is not needed.
        Fields::Unit => (quote!(_), quote!(Self)),
        fields if fields.is_empty() => (quote!(_), quote!(Self {})),
        _ => (quote!(board), quote!(Self { #(#members: #ends),* })),
    };
    quote! {
        impl<__Board> ::rumpsteak_runtime::private::wiring::Wire<__Board> for #name
        where
            __Board: ::rumpsteak_runtime::private::wiring::Seats<#name>,
            #(
                #peers: ::rumpsteak_runtime::private::wiring::Joins<#name, __Board>,
                #types: ::rumpsteak_runtime::Pair<
                    <#peers as ::rumpsteak_runtime::private::wiring::Joins<#name, __Board>>::Link,
                >,
            )*
        {
            fn wire(#board: &mut __Board) -> Self {
                #body
            }
        }
    }
}

/// The names that proofs have for the role, where its attributes do not say them.
fn plays(item: &RoleItem) -> Option<RoleName> {
    match verdict::find(Kind::Role, &item.name, item.hash()) {
        Lookup::Found(entry) => match entry.outcome {
            Outcome::Passed(proof) => proof.plays,
            _ => None,
        },
        _ => None,
    }
}

/// The problems that the build script found with the link to the protocol, and what it proved about queues.
///
/// No verdict is no problem here: without a verdict, no session of the role runs. Then nothing was proven, either.
fn verdict_on(item: &RoleItem) -> (TokenStream, Option<System>) {
    let Lookup::Found(entry) = verdict::find(Kind::Role, &item.name, item.hash()) else {
        return (TokenStream::new(), None);
    };
    match entry.outcome {
        Outcome::Failed { problems, .. } => {
            let errors = verdict::errors(&problems, |token| item.span_of(token));
            (errors, None)
        }
        Outcome::FailedElsewhere(_) => (TokenStream::new(), None),
        Outcome::Passed(proof) => (TokenStream::new(), proof.system),
    }
}
