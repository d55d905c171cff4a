//! `#[derive(Roles)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use rumpsteak_contract::SetItem;
use rumpsteak_contract::set::SetField;
use rumpsteak_contract::verdict::Kind;
use syn::spanned::Spanned as _;
use syn::{Error, Result};

use crate::tokens::{at, member};
use crate::verdict;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    derive(input).unwrap_or_else(Error::into_compile_error)
}

fn derive(input: TokenStream) -> Result<TokenStream> {
    let set = SetItem::parse(input)?;
    let first = check(&set)?;
    let closed = set.is_closed_system;
    let problems = closed.then(|| verdict::problems(Kind::Set, &set.name, &set.key, &set.krate));
    let members = set.fields.iter().enumerate();
    let members = members.map(|(index, field)| member(field.name.as_ref(), index));
    let members: Vec<_> = members.collect();
    let assertions = assertions(&set, first);
    let wiring = wiring(&set, &members);
    let resets = resets(&set, &members);
    Ok(quote! {
        #resets
        #problems
        #assertions
        #wiring
    })
}

fn check(set: &SetItem) -> Result<&SetField> {
    if let Some(parameter) = set.parameters {
        return Err(Error::new(parameter, "a set of roles has no parameters"));
    }
    for (index, SetField { ty, .. }) in set.fields.iter().enumerate() {
        let text = ty.to_string();
        let mut earlier = set.fields[..index].iter();
        if earlier.any(|earlier| earlier.ty.to_string() == text) {
            return Err(Error::new(
                ty.span(),
                format_args!("a second `{text}`: a set has each role once"),
            ));
        }
    }
    set.fields.first().ok_or_else(|| {
        Error::new(set.name.span(), "expected at least one role: `struct Roles { s: S, k: K }`")
    })
}

/// The assertions that all roles play one protocol, and each another role.
fn assertions(set: &SetItem, first: &SetField) -> TokenStream {
    let first = &first.ty;
    let types: Vec<_> = set.fields.iter().map(|field| &field.ty).collect();
    let others = types.iter().enumerate().skip(1);
    let assertions = others.map(|(index, ty)| {
        let (krate, text) = (at(&set.krate, ty.span()), ty.to_string());
        let protocols = format!(
            "`{first}` and `{text}` play different protocols: all roles of a set play the same one"
        );
        let names = format!("`{text}` plays the same role as another struct of this set");
        let earlier = &types[..index];
        quote_spanned! {ty.span()=>
            const _: () = {
                let (first, played) =
                    (<#first as #krate::Role>::PLAYED.0, <#ty as #krate::Role>::PLAYED.0);
                // What plays nothing has an error of its own.
                if first.number != 0
                    && played.number != 0
                    #(&& !#krate::private::wiring::is_refused(<#types as #krate::Role>::PLAYED.0.role))*
                {
                    ::core::assert!(
                        #krate::private::wiring::same(first.protocol, played.protocol),
                        #protocols
                    );
                    ::core::assert!(
                        #(played.number != <#earlier as #krate::Role>::PLAYED.0.number)&&*,
                        #names
                    );
                }
            };
        }
    });
    assertions.collect()
}

/// `Default`, which wires the roles in turn.
fn wiring(set: &SetItem, members: &[TokenStream]) -> TokenStream {
    let (name, krate) = (&set.name, &set.krate);
    let seats = set.fields.iter().map(|SetField { ty, .. }| {
        let krate = at(krate, ty.span());
        quote_spanned! {ty.span()=>
            #[diagnostic::do_not_recommend]
            impl #krate::private::wiring::Seats<#ty> for #name {
                type Far<Near: 'static, Far: 'static> = Far;
                const BY_MACRO: #krate::private::ByMacro = #krate::private::ByMacro(());
            }
        }
    });
    // The span is that of the set, so that rustc says once which role it lacks, however many have a
    // route to that. All else is the macro's: clippy would refuse it in a tuple of roles.
    let placed = at(krate, name.span());
    let wired = quote_spanned! {name.span()=>
        #placed::private::wiring::Wire::<Self>::wire(&mut wiring)
    };
    quote! {
        #(#seats)*

        #[automatically_derived]
        impl ::core::default::Default for #name {
            fn default() -> Self {
                let mut wiring = #krate::private::wiring::Wiring::new();
                Self { #(#members: #wired),* }
            }
        }
    }
}

fn resets(set: &SetItem, members: &[TokenStream]) -> TokenStream {
    let (name, visibility) = (&set.name, &set.visibility);
    let types = set.fields.iter().map(|field| &field.ty);
    let parameters = set.fields.iter().enumerate();
    let parameters = parameters.map(|(index, field)| match &field.name {
        Some(name) => name.clone(),
        None => format_ident!("role_{index}"),
    });
    let parameters: Vec<_> = parameters.collect();
    // A field may have any name.
    let fresh = Ident::new("fresh", Span::mixed_site());
    quote! {
        #[allow(dead_code, private_interfaces, reason = "a program may need no reset")]
        impl #name {
            /// Replaces all routes of the set by fresh ones, so that every role can begin a
            /// session, also one that was poisoned.
            ///
            /// Messages in the old routes are dropped: none of them reaches a new session.
            #visibility fn reset(&mut self) {
                *self = ::core::default::Default::default();
            }

            /// As `reset`, for roles that were taken out of the set.
            ///
            /// They need not come from the same set: afterwards they are connected to each other,
            /// and what they were connected to before finds its routes closed.
            #[allow(clippy::too_many_arguments, reason = "one for each role")]
            #visibility fn reset_each(#(#parameters: &mut #types),*) {
                let #fresh: Self = ::core::default::Default::default();
                #(*#parameters = #fresh.#members;)*
            }
        }
    }
}
