//! Expansion of sets of roles.
//!
//! ```text
//! struct Roles { c: C, s: S }
//!
//!     impl Default for Roles                  wires the roles to each other
//!     impl Roles {
//!         fn reset(&mut self)                 replaces all routes
//!         fn reset_each(&mut C, &mut S)
//!         fn watch(self, Duration)            reports if nothing happens any more
//!         fn run(&mut self, c, s)             one process for each role, in one task
//!     }
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use rumpsteak_front::SetItem;
use rumpsteak_front::set::SetField;
use syn::{Index, Member, parse_quote};

use crate::scope::Scope;
use crate::tokens::{at, body};

/// The number of processes that one `join` can run.
const MOST: usize = 12;

pub(crate) fn expand(set: &SetItem, scope: &Scope<'_>) -> TokenStream {
    let mut set = set.clone();
    let mut wrong = TokenStream::new();
    set.fields.retain_mut(|of| correct(of, scope, &mut wrong));
    let SetItem { attributes, visibility, name, fields } = &set;
    let krate = scope.krate;
    let written: Vec<_> = fields.iter().map(|of| &of.field).collect();
    let body = body(&written);
    let parameters = fields.iter().map(|of| match &of.member {
        Member::Named(name) => name.clone(),
        Member::Unnamed(Index { index, .. }) => format_ident!("role_{index}"),
    });
    let parameters: Vec<_> = parameters.collect();
    // Any other case is an error already, which keeps the program from running.
    let are_roles = fields.iter().all(|field| scope.is_role(&field.role));
    let code = if are_roles {
        let wiring = wiring(&set, scope, &parameters);
        let resets = resets(&set, scope, &parameters);
        let (watch, run) = (watch(&set, krate), run(&set, scope, &parameters));
        quote! {
            #[allow(dead_code, private_interfaces, reason = "a program may need no reset, and run its roles by itself")]
            impl #name {
                #resets
                #watch
                #run
            }
            #wiring
        }
    } else {
        quote! {
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    ::core::unreachable!()
                }
            }
        }
    };
    let structure = at(&quote!(struct #name #body), name.span());
    quote! {
        #(#attributes)*
        #visibility #structure
        #wrong
        #code
    }
}

/// Reports a field that does not fit its role, and corrects it, so that this is the only error.
/// False for a ring, which has no field.
fn correct(of: &mut SetField, scope: &Scope<'_>, wrong: &mut TokenStream) -> bool {
    let SetField { role, is_family, field, .. } = of;
    let Some(facts) = scope.role(role) else { return true };
    let (is_ring, right) = (facts.connects.is_some(), facts.members.is_some());
    let text = match (*is_family, right) {
        _ if is_ring => format!("`{role}` is a ring, which has no process: remove this field"),
        (true, false) => format!("`{role}` is one role, not a family: write `{role}`"),
        (false, true) => format!("`{role}` is a family, of all members: write `Vec<{role}>`"),
        _ => return true,
    };
    wrong.extend(quote_spanned!(role.span()=> ::core::compile_error!(#text);));
    *is_family = right;
    field.ty = if right { parse_quote!(::std::vec::Vec<#role>) } else { parse_quote!(#role) };
    !is_ring
}

/// The parameters of the families whose number of members the program gives.
fn given<'a>(set: &SetItem, scope: &Scope<'_>, parameters: &'a [Ident]) -> Vec<&'a Ident> {
    let is_given = |of: &SetField| scope.role(&of.role).is_some_and(|it| it.members == Some(0));
    parameters.iter().zip(&set.fields).filter(|(_, of)| is_given(of)).map(|(it, _)| it).collect()
}

fn family(scope: &Scope<'_>, role: &Ident, size: &Ident, wired: &TokenStream) -> TokenStream {
    let (krate, name) = (scope.krate, size.to_string());
    let size = match scope.role(role).and_then(|facts| facts.members).unwrap_or_default() {
        0 => quote!(#size),
        members => quote!(#members as usize),
    };
    quote! {{
        ::core::assert!(#size > 0, "the family `{}` has no members", #name);
        (0..#size).map(|index| #krate::private::numbered(#wired, index)).collect()
    }}
}

/// `Default` or, if the program gives the sizes of families, `sized`: wires the roles in turn.
fn wiring(set: &SetItem, scope: &Scope<'_>, parameters: &[Ident]) -> TokenStream {
    let (krate, name) = (scope.krate, &set.name);
    let rings = set
        .fields
        .iter()
        .flat_map(|of| scope.rings(&of.role).into_iter().map(|ring| (of.member.clone(), ring)));
    let (connected, rings): (Vec<_>, Vec<_>) = rings.unzip();
    let mutable = (!rings.is_empty()).then(|| quote!(mut));
    let seats = set.fields.iter().map(|of| &of.role).chain(&rings).map(|role| {
        let krate = at(krate, role.span());
        quote_spanned! {role.span()=>
            #[diagnostic::do_not_recommend]
            impl #krate::private::wiring::Seats<#role> for #name {
                type Far<Far: 'static> = Far;
                const BY_MACRO: #krate::private::ByMacro = #krate::private::ByMacro(());
            }
        }
    });
    // The span points at the set, so that rustc reports once which role is missing, however many
    // roles have a route to it. The rest is the macro's, or clippy would reject a tuple of roles.
    let placed = at(krate, name.span());
    let wired = quote_spanned! {name.span()=>
        #placed::private::wiring::Wire::<Self>::wire(&mut wiring)
    };
    // The members of families first: their peers then take all ends at once.
    let wires = (0..set.fields.len()).partition(|&index| set.fields[index].is_family);
    let wires: (Vec<usize>, Vec<usize>) = wires;
    let wires = wires.0.into_iter().chain(wires.1).map(|index| {
        let SetField { role, is_family, member, .. } = &set.fields[index];
        let made = is_family.then(|| family(scope, role, &parameters[index], &wired));
        let made = made.as_ref().unwrap_or(&wired);
        quote!(#member: #made)
    });
    let body = match scope.is_whole() {
        true => quote! {
            let mut wiring = #krate::private::wiring::Wiring::new();
            let #mutable set = Self { #(#wires),* };
            #(
                let routes = set.#connected.iter_mut().map(#krate::transport::Route::<#rings>::route);
                #krate::private::JoinsRing::join(routes.collect());
            )*
            if let ::core::option::Option::Some(watch) = #krate::private::Watch::from_environment() {
                set.__watch(&watch);
            }
            set
        },
        // Roles with a mistake may lack routes.
        false => quote!(::core::unreachable!()),
    };
    let given = given(set, scope, parameters);
    let (implemented, head) = match given.is_empty() {
        true => (quote!(::core::default::Default for), quote!(fn default())),
        false => (quote!(), quote!(#[must_use] #[track_caller] pub fn sized(#(#given: usize),*))),
    };
    quote! {
        #(#seats)*

        #[automatically_derived]
        #[allow(unused_variables, reason = "a module with a mistake has no roles")]
        impl #implemented #name {
            /// The roles, wired to each other. Panics if a family has no members.
            #head -> Self {
                #body
            }
        }
    }
}

fn resets(set: &SetItem, scope: &Scope<'_>, parameters: &[Ident]) -> TokenStream {
    let (roles, members): (Vec<_>, Vec<_>) =
        set.fields.iter().map(|of| (&of.field.ty, &of.member)).unzip();
    let made = match &*given(set, scope, parameters) {
        [] => quote!(::core::default::Default::default()),
        sizes => quote!(Self::sized(#(#sizes.len()),*)),
    };
    // Hygienic, because a field may have any name.
    let fresh = Ident::new("fresh", Span::mixed_site());
    quote! {
        /// Replaces all routes of the set by fresh ones, so that every role can begin a session,
        /// even a poisoned one. Messages in the old routes are dropped.
        pub fn reset(&mut self) {
            Self::reset_each(#(&mut self.#members),*);
        }

        /// Resets roles that were moved out of the set, as `reset` does. They may come from
        /// different sets: afterwards they are connected to each other, and their old peers find
        /// their routes closed.
        #[allow(clippy::too_many_arguments, reason = "one for each role")]
        pub fn reset_each(#(#parameters: &mut #roles),*) {
            let #fresh: Self = #made;
            #(*#parameters = #fresh.#members;)*
        }
    }
}

fn watch(set: &SetItem, krate: &TokenStream) -> TokenStream {
    let added = set.fields.iter().map(|SetField { member, is_family, .. }| match is_family {
        true => quote!(self.#member.iter().for_each(|it| watch.add(it));),
        false => quote!(watch.add(&self.#member);),
    });
    quote! {
        /// Watches the roles: if no action of the set completes for this long and a role waits,
        /// prints to stderr who waits for which message from whom, and what the others do. An
        /// optimised build needs the feature `watch`: see `rumpsteak::watch`.
        ///
        /// ```text
        /// Roles::default().watch(Duration::from_secs(5)).run(client, server).await?;
        /// ```
        #[must_use]
        pub fn watch(self, limit: ::core::time::Duration) -> Self {
            self.__watch(&#krate::private::Watch::printing(limit));
            self
        }

        /// Watches the roles as `watch` does, and passes the reports to `tell`, which is called on
        /// a thread that all watched sets share.
        #[must_use]
        pub fn watch_with(
            self,
            limit: ::core::time::Duration,
            tell: impl ::core::ops::Fn(&#krate::watch::Report)
                + ::core::marker::Send
                + ::core::marker::Sync
                + 'static,
        ) -> Self {
            self.__watch(&#krate::private::Watch::new(limit, tell));
            self
        }

        #[cold]
        #[inline(never)]
        fn __watch(&self, watch: &#krate::private::Watch) {
            #(#added)*
        }
    }
}

/// The method that runs one process for each role.
///
/// It has the bounds of `try_run` for each role, so that rustc's messages are the same, at the
/// place of the process. It is not an `async fn`, which would repeat the bounds at each use.
/// Long because it has all the bounds of the method.
fn run(set: &SetItem, scope: &Scope<'_>, parameters: &[Ident]) -> TokenStream {
    let krate = scope.krate;
    let roles: Vec<_> = set.fields.iter().map(|field| &field.role).collect();
    let named = |part| {
        let names = roles.iter().map(|role| format_ident!("__{part}{role}"));
        names.collect::<Vec<_>>()
    };
    let [sessions, futures, answers, values, processes, players, returned] =
        ["SessionOf", "F", "A", "T", "P", "Q", "V"].map(named);
    let last = processes.last();
    let (mut types, mut runs, mut begins, mut all) = (vec![], vec![], vec![], vec![]);
    let [first, refused] = ["first", "refused"].map(|name| Ident::new(name, Span::mixed_site()));
    let (checks, mut others) = (quote!(#krate::private), vec![]);
    for (index, SetField { role, is_family, member, .. }) in set.fields.iter().enumerate() {
        let (parameter, process) = (&parameters[index], &processes[index]);
        let (session, value) = (&sessions[index], &values[index]);
        let (future, answer) = (&futures[index], &answers[index]);
        let itself = quote!(<#future as #krate::states::Process<#answer>>::Itself);
        if *is_family {
            types.push(quote! {
                #krate::private::RunningFamily<
                    #krate::Running<'s, #role, #krate::private::Shared<#process>, #itself, #value,
                        #krate::Error>,
                    #krate::Result<#value>>
            });
            runs.push(quote! {
                #krate::private::family(&mut self.#member, #parameter, |member, process| {
                    #krate::private::running(member, process)
                })
            });
            begins.push(quote!(::core::ops::Fn(usize, #session) -> #future));
            all.push(quote!(::std::vec::Vec<#value>));
            let check = quote!(|(at, it)| #checks::other_member(at, it, &mut #first));
            others.push(quote!(self.#member.iter().enumerate().find_map(#check)));
        } else {
            types.push(quote! {
                #krate::Running<'s, #role, #process, #itself, #value, #krate::Error>
            });
            runs.push(quote!(#krate::private::running(&mut self.#member, #parameter)));
            let facts = scope.role(role);
            let on_demand = facts.filter(|it| scope.protocol().on_demand.contains(&it.role));
            let on_demand = on_demand.map(|_| quote!(+ #krate::states::OnDemand));
            begins.push(quote!(#krate::states::Uncalled<#session, #future> #on_demand));
            all.push(quote!(#value));
            others.push(quote!(#checks::other_set(&self.#member, &mut #first)));
            let peers = facts.filter(|_| scope.is_whole()).map_or(&[][..], |it| &it.queues);
            let is_peer = |of: &Ident| peers.iter().any(|(peer, _)| of == peer);
            for of in set.fields.iter().filter(|of| of.is_family && is_peer(&of.role)) {
                let (family, members) = (&of.role, &of.member);
                let route = quote!(#krate::transport::Route::<#family>::route(&mut self.#member));
                let names = [role, family].map(|it| quote!(<#it as #krate::Role>::NAME));
                let numbers = quote!(#route, [#(#names),*], self.#members.len());
                others.push(quote!(#first.and_then(|_| #checks::other_number(#numbers))));
            }
        }
    }
    let mut patterns: Vec<_> = parameters.iter().map(|name| quote!(#name)).collect();
    // More roles than that are joined in groups.
    while types.len() > MOST {
        let joined = types
            .chunks(MOST)
            .map(|group| quote!(<(#(#group,)*) as #krate::private::Processes>::Joined));
        types = joined.collect();
        runs = runs.chunks(MOST).map(|group| quote!(#krate::join((#(#group,)*)))).collect();
        patterns = patterns.chunks(MOST).map(|group| quote!((#(#group,)*))).collect();
    }
    let documentation = include_str!("run.md");
    quote! {
        #[doc = #documentation]
        #[allow(clippy::too_many_arguments, clippy::type_complexity, reason = "one for each role")]
        pub fn run<'s, #(#sessions, #futures, #answers, #values, #processes, #players, #returned,)* __W>(
            &'s mut self,
            #(#parameters: #processes),*
        ) -> #krate::RunningAll<
            <(#(#types,)*) as #krate::private::Processes>::Joined,
            (#(#all,)*),
            __W,
        >
        where
            #(
                <#processes as #krate::states::Supplied<
                    <#last as #krate::states::Supplied<#roles>>::Role,
                >>::Role: #krate::states::Runs<
                    #sessions,
                    State = #krate::states::State<'s, #roles>,
                    Player = #players,
                >,
                #processes: #begins,
                #futures: #krate::states::Process<#answers>
                    + ::core::future::Future<Output = #krate::Result<#returned>>,
                #players: #krate::states::Ends<'s, #returned, #values, __W>,
            )*
        {
            let mut #first = ::core::option::Option::None;
            let #refused = ::core::option::Option::None #(.or_else(|| #others))*;
            #krate::RunningAll::new(#refused, #krate::join((#(#runs,)*)), |(#(#patterns,)*)| {
                match (#(#parameters,)*) {
                    (#(::core::result::Result::Ok(#parameters),)*) => {
                        ::core::result::Result::Ok((#(#parameters,)*))
                    }
                    (#(#parameters,)*) => ::core::result::Result::Err(
                        #krate::private::root_cause([#(#parameters.err()),*]),
                    ),
                }
            })
        }
    }
}
