//! Expansion of roles.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use rumpsteak_build::expansion::{ProtocolFacts, RoleFacts};
use rumpsteak_front::role::{Room, Route};
use rumpsteak_front::{RoleItem, hash};
use syn::Field;
use syn::spanned::Spanned as _;

use crate::scope::Scope;
use crate::tokens::{at, body};

pub(crate) fn expand(item: &RoleItem, scope: &Scope<'_>) -> TokenStream {
    let RoleItem { attributes, visibility, name, routes, .. } = item;
    let fields: Vec<_> = routes.iter().map(|route| &route.field).collect();
    let (krate, body) = (scope.krate, body(&fields));
    let body = at(&quote!(struct #name #body), name.span());
    let structure = quote!(#(#attributes)* #visibility #body);
    let message = item.message.as_ref().or_else(|| scope.message());
    // Any other case is an error already.
    let are_roles = routes.iter().all(|route| scope.is_role(&route.peer));
    let (Some(facts), Some(message), true) = (scope.role(name), message, are_roles) else {
        let stub = stub(name, item.message.as_ref(), scope);
        return quote!(#structure #stub);
    };
    let participant = participant(name, routes, message, facts, scope);
    let routes = routes.iter().map(|it| route(name, it, facts, scope));
    let wiring = wiring(item, krate, scope.is_whole());
    let leaving = leaving(item, krate);
    quote!(#structure #participant #(#routes)* #wiring #leaving)
}

pub(crate) fn stub(name: &Ident, message: Option<&Ident>, scope: &Scope<'_>) -> TokenStream {
    let unknown = RoleFacts::default();
    let Some(message) = message.or_else(|| scope.message()) else { return TokenStream::new() };
    let facts = scope.role(name).unwrap_or(&unknown);
    let (krate, participant) = (scope.krate, participant(name, &[], message, facts, scope));
    quote!(#participant #krate::private::stub!(role #name);)
}

/// The implementations of a role with these routes.
fn participant(
    name: &Ident,
    routes: &[Route],
    message: &Ident,
    facts: &RoleFacts,
    scope: &Scope<'_>,
) -> TokenStream {
    let ProtocolFacts { protocol, system, projections, on_demand, differ, stops, closed, .. } =
        scope.protocol();
    let (role, is_family) = (&facts.role, facts.members.is_some());
    let is_in_ring = !scope.rings(name).is_empty();
    let (krate, number) = (scope.krate, hash::number(&[protocol, role]));
    let methods = methods(name, routes, message, scope);
    let kind = if is_family { quote!(Family) } else { quote!(NotAFamily) };
    quote! {
        #[automatically_derived]
        impl #krate::Role for #name {
            const PLAYED: #krate::private::ByMacro<#krate::private::Played> =
                #krate::private::ByMacro(#krate::private::Played {
                    protocol: #protocol,
                    role: #role,
                    is_family: #is_family,
                    is_in_ring: #is_in_ring,
                    differ: #differ,
                    stops: #stops,
                    number: #number,
                    system: #system,
                    projections: #projections,
                    on_demand: &[#(#on_demand),*],
                    closed: #closed,
                });

            type Message = #message;
        }
        impl #krate::states::#kind for #name {}

        #[automatically_derived]
        #[allow(unused_mut, unused_variables, reason = "a role may have no routes")]
        impl #krate::private::Participant for #name {
            #methods
        }
    }
}

/// The methods that visit all routes of a role.
fn methods(name: &Ident, routes: &[Route], message: &Ident, scope: &Scope<'_>) -> TokenStream {
    let [mut visits, mut closes, mut once]: [TokenStream; 3] = Default::default();
    let [mut begins, mut ends, mut unfit]: [TokenStream; 3] = Default::default();
    // All spans point at the field's type, so that rustc reports once if it cannot be a route.
    for route in routes {
        let (span, peer, with) = (route.field.ty.span(), route.peer.to_string(), &route.peer);
        let member = at(&route.member.to_token_stream(), span);
        let krate = at(scope.krate, span);
        let mark = quote_spanned!(span=> #krate::transport::Link::mark(&self.#member));
        visits.extend(quote_spanned!(span=> visit(#peer, #mark);));
        once.extend(quote_spanned!(span=> #krate::private::once::<#name, #with>(),));
        closes.extend(quote_spanned!(span=> #krate::transport::Link::close(&mut self.#member);));
        let [first, last, wrong] = session(name, route, message, scope);
        begins.extend(first);
        ends.extend(last);
        unfit.extend(wrong);
    }
    let krate = scope.krate;
    let routes = routes.len();
    quote! {
        const ROUTES: usize = #routes;

        const ONCE: ::core::option::Option<&'static str> = #krate::private::first(&[#once]);

        type Itself = Self;
        type Owned = ();

        const NOT_OWNED: () = ();

        #[inline]
        fn for_each_mark<'a>(
            &'a self,
            mut visit: impl ::core::ops::FnMut(&'static str, &'a #krate::transport::Mark),
        ) {
            #visits
        }

        #[inline]
        fn poll_begin(&mut self, waker: &::core::task::Waker) -> ::core::task::Poll<()> {
            let ready = ::core::task::Poll::Ready(());
            #begins
            ready
        }

        #[inline]
        fn complete(&mut self) {
            #ends
        }

        #[inline]
        fn unfit(&self) -> ::core::option::Option<#krate::ErrorKind> {
            ::core::option::Option::None #unfit
        }

        fn close(&mut self) {
            #closes
        }
    }
}

/// How a session begins and ends on a route, and what makes the route unfit for it.
fn session(name: &Ident, route: &Route, message: &Ident, scope: &Scope<'_>) -> [TokenStream; 3] {
    let (span, with) = (route.field.ty.span(), &route.peer);
    let (member, krate) = (at(&route.member.to_token_stream(), span), at(scope.krate, span));
    let named = |role: &Ident| scope.role(role).map_or("", |facts| &facts.role);
    let peer = named(with);
    let counts = quote_spanned!(span=> #krate::private::counts_sessions::<#name, #with>());
    let names = quote_spanned!(span=> [<Self as #krate::Role>::NAME, #peer]);
    let late = |from: &Ident, to: &Ident| {
        let mut late = scope.protocol().late.iter();
        late.any(|late| (&*late.0, &*late.1) == (named(from), named(to)))
    };
    let (drops, tells) = (late(with, name), late(name, with));
    let begins = quote_spanned! {span=>
        let ready = #krate::private::poll_begin::<#message, _>(
            &mut self.#member,
            [const { #counts }, #drops],
            waker,
            ready,
        );
    };
    let ends = quote_spanned! {span=>
        #krate::private::complete::<#message, _>(
            &mut self.#member,
            [const { #counts }, #drops, #tells],
        );
    };
    let mut unfit = TokenStream::new();
    let hears = |role: &Ident| scope.role(role).is_some_and(|facts| facts.hears_whoever_is_first);
    if drops || hears(name) || hears(with) {
        unfit.extend(quote_spanned! {span=>
            .or_else(|| #krate::private::confusable::<#message, _>(&self.#member, #names, #drops))
        });
    }
    if let Some(Room::Capacity(most, _)) = scope.room(route) {
        unfit.extend(quote_spanned! {span=>
            .or_else(|| #krate::private::undersized::<#message, _>(&self.#member, #names, #most))
        });
    }
    if let Some(fixed @ 1..) = scope.role(with).and_then(|facts| facts.members) {
        unfit.extend(quote_spanned! {span=>
            .or_else(|| #krate::private::other_number(&self.#member, #names, #fixed as usize))
        });
    }
    [begins, ends, unfit]
}

/// The implementation of a route, and the checks of its type.
fn route(name: &Ident, route: &Route, facts: &RoleFacts, scope: &Scope<'_>) -> TokenStream {
    let mut queues = facts.queues.iter();
    let capacity = queues.find(|(peer, _)| route.peer == peer);
    let capacity = capacity.map_or("Growable", |(_, capacity)| match capacity.as_str() {
        // A queue for at most one message also never holds more than four. The producer then checks
        // for room only once in four messages.
        "AtMost(1)" | "AtMost(2)" | "AtMost(3)" => "AtMost(4)",
        proven => proven,
    });
    let capacity = capacity.parse().unwrap_or_else(|_| quote!(Growable));
    let Route { peer, member, field: Field { ty, .. }, .. } = route;
    let krate = at(scope.krate, ty.span());
    // A route to one role that is used as one to a family does not compile.
    let of_members = scope.is_family(peer).then(|| {
        quote_spanned! {ty.span()=>
            const _: () = #krate::private::to_family::<#ty>();
        }
    });
    let known = scope.room(route).is_none().then(|| {
        quote_spanned! {ty.span()=>
            const _: () = #krate::transport::known_room::<#ty, #peer>();
        }
    });
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
        #known
        #of_members
    }
}

/// The implementation for `Detached`, which moves the routes out of the role.
fn leaving(item: &RoleItem, krate: &TokenStream) -> TokenStream {
    let name = &item.name;
    let types = item.routes.iter().map(|route| &route.field.ty);
    let members: Vec<_> = item.routes.iter().map(|route| &route.member).collect();
    quote! {
        #[allow(unused_mut, unused_variables, reason = "a role may have no routes")]
        impl<__To> #krate::private::Leaves<__To> for #name
        where
            #(#types: #krate::private::Moves<__To>,)*
        {
            fn take(&mut self) -> Self {
                Self { #(#members: #krate::private::Moves::<__To>::take(&mut self.#members)),* }
            }

            fn into_routes(
                self,
                mut visit: impl ::core::ops::FnMut(::std::boxed::Box<dyn ::core::any::Any>),
            ) {
                #(visit(::std::boxed::Box::new(self.#members));)*
            }
        }
    }
}

/// The implementation for sets of roles: see `rumpsteak_runtime::private::wiring`.
fn wiring(item: &RoleItem, krate: &TokenStream, is_whole: bool) -> TokenStream {
    let name = &item.name;
    let peers: Vec<_> = item.routes.iter().map(|route| &route.peer).collect();
    let members = item.routes.iter().map(|route| &route.member);
    let indices = 0..peers.len();
    let made = match is_whole {
        true => quote!(Self { #(#members: wiring.connect::<#name, #peers, __Set, #indices>()),* }),
        // The error of the module may be about these routes. It keeps this code from running.
        false => quote!(::core::unreachable!()),
    };
    // All spans point at the struct: rustc advises against bounds that a derive makes.
    let bounds = item.routes.iter().filter(|_| is_whole);
    let bounds = bounds.map(|Route { peer, field: Field { ty, .. }, .. }| {
        let krate = at(krate, ty.span());
        quote_spanned! {ty.span()=>
            __Set: #krate::private::wiring::Seats<#peer>,
            #peer: #krate::private::wiring::Joins<#name, __Set>,
            <#name as #krate::transport::Route<#peer>>::Link: #krate::transport::Pair<
                <__Set as #krate::private::wiring::Seats<#peer>>::Far<
                    <#peer as #krate::private::wiring::Joins<#name, __Set>>::Link,
                >,
            >,
        }
    });
    let placed = at(krate, name.span());
    let wire = quote_spanned!(name.span()=> #placed::private::wiring::Wire<__Set>);
    quote! {
        #[allow(unused_variables, reason = "a role may have no routes, or a mistake")]
        impl<__Set> #wire for #name
        where
            #(#bounds)*
        {
            fn wire(wiring: &mut #krate::private::wiring::Wiring<'_>) -> Self {
                #made
            }
        }
    }
}
