//! `#[derive(Roles)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use rumpsteak_contract::verdict::{Kind, Outcome};
use rumpsteak_contract::{Input, SetItem};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Index, Member, Result, Type};

use crate::verdict::{self, Lookup};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    derive(input).unwrap_or_else(Error::into_compile_error)
}

/// What the build script says about a set that is verified as a whole.
fn problems(input: TokenStream) -> Result<TokenStream> {
    let Some(set) = SetItem::parse(&Input::new(input).tokens()).map_err(verdict::spanned)? else {
        return Ok(TokenStream::new());
    };
    Ok(match verdict::find(Kind::Set, &set.name, set.hash()) {
        Lookup::Found(entry) => match entry.outcome {
            Outcome::Failed { problems, .. } => {
                verdict::errors(&problems, |token| set.span_of(token))
            }
            Outcome::FailedElsewhere(_) | Outcome::Passed(_) => TokenStream::new(),
        },
        Lookup::Unverified(reason) => verdict::unverified(&set.name, &reason),
        Lookup::Unseen => verdict::unseen(&set.name),
        Lookup::Typing => TokenStream::new(),
    })
}

fn derive(input: TokenStream) -> Result<TokenStream> {
    let problems = problems(input.clone())?;
    let derive: DeriveInput = syn::parse2(input)?;
    if let Some(parameter) = derive.generics.params.first() {
        return Err(Error::new(
            parameter.span(),
            "a set of roles has no parameters",
        ));
    }
    let Data::Struct(data) = &derive.data else {
        return Err(Error::new(
            derive.ident.span(),
            "expected a struct with one field for each role: `struct Roles { s: S, k: K }`",
        ));
    };
    let mut roles: Vec<(Member, &Type)> = Vec::new();
    for (index, field) in data.fields.iter().enumerate() {
        let ty = &field.ty;
        if roles
            .iter()
            .any(|(_, earlier)| quote!(#earlier).to_string() == quote!(#ty).to_string())
        {
            return Err(Error::new(
                ty.span(),
                format_args!("a second `{}`: a set has each role once", quote!(#ty)),
            ));
        }
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index::from(index)),
        };
        roles.push((member, ty));
    }
    let Some((_, first)) = roles.first() else {
        return Err(Error::new(
            derive.ident.span(),
            "expected at least one role: `struct Roles { s: S, k: K }`",
        ));
    };

    let name = &derive.ident;
    // All spans are those of the field's type, so that rustc says only once that it is no role.
    let slots = roles
        .iter()
        .map(|(_, ty)| quote_spanned!(ty.span()=> <#ty as ::rumpsteak_runtime::Role>::Seat));
    let empty = roles.iter().map(|(_, ty)| {
        quote_spanned!(ty.span()=> <<#ty as ::rumpsteak_runtime::Role>::Seat as ::core::default::Default>::default())
    });
    let seats = roles.iter().enumerate().map(|(index, (_, ty))| {
        let index = Index::from(index);
        quote_spanned! {ty.span()=>
            impl ::rumpsteak_runtime::private::wiring::Seats<#ty> for __Board {
                fn seat(&mut self) -> &mut <#ty as ::rumpsteak_runtime::Role>::Seat {
                    &mut self.#index
                }
            }
        }
    });
    let wired = roles.iter().map(|(member, ty)| {
        quote_spanned! {ty.span()=>
            #member: <#ty as ::rumpsteak_runtime::private::wiring::Wire<__Board>>::wire(&mut board)
        }
    });
    let assertions = roles.iter().enumerate().skip(1).map(|(index, (_, ty))| {
        let text = quote!(#ty).to_string();
        let protocols = format!(
            "`{}` and `{text}` play different protocols: all roles of a set play the same one",
            quote!(#first),
        );
        let names = format!("`{text}` plays the same role as another struct of this set");
        let earlier = roles.iter().take(index).map(|(_, earlier)| earlier);
        quote_spanned! {ty.span()=>
            const _: () = ::core::assert!(
                ::rumpsteak_runtime::private::wiring::same(
                    <#first as ::rumpsteak_runtime::Role>::PROTOCOL,
                    <#ty as ::rumpsteak_runtime::Role>::PROTOCOL,
                ),
                #protocols
            );
            const _: () = ::core::assert!(
                ::rumpsteak_runtime::private::wiring::differs(
                    <#ty as ::rumpsteak_runtime::Role>::NAME,
                    &[#(<#earlier as ::rumpsteak_runtime::Role>::NAME),*],
                ),
                #names
            );
        }
    });
    let visibility = &derive.vis;
    let members: Vec<_> = roles.iter().map(|(member, _)| member).collect();
    let types = roles.iter().map(|(_, ty)| ty);
    let parameters: Vec<_> = members
        .iter()
        .map(|member| match member {
            Member::Named(ident) => ident.clone(),
            Member::Unnamed(index) => format_ident!("role_{}", index.index),
        })
        .collect();
    Ok(quote! {
        #[allow(dead_code, private_interfaces, reason = "a program may need no reset")]
        impl #name {
            /// Replaces all routes of the set by fresh ones, so that every role can begin a session,
            /// also one that was poisoned.
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
                let roles: Self = ::core::default::Default::default();
                #(*#parameters = roles.#members;)*
            }
        }
        #problems

        const _: () = {
            #(#assertions)*

            struct __Board(#(#slots),*);

            #(#seats)*

            #[automatically_derived]
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    let mut board = __Board(#(#empty),*);
                    Self { #(#wired),* }
                }
            }
        };
    })
}
