//! The parts of a root: the session that a role runs from its beginning.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use rumpsteak_build::expansion::Machine;

use super::expansion::Expansion;

impl Expansion<'_> {
    /// The default of the role parameter and a picture of the machine, for a root. The picture is
    /// only in documentation, because editors would show its text.
    pub(super) fn default(&self) -> (Option<TokenStream>, Option<TokenStream>) {
        let default = self.item.role.as_ref().map(|role| quote!(= #role));
        let facts = self.scope.root(&self.item.name);
        let picture = facts.map(|facts| facts.picture.trim_end()).filter(|it| !it.is_empty());
        let picture = picture.map(|picture| {
            let picture = format!("\n<div style=\"overflow-x:auto\">{picture}</div>");
            quote!(#[cfg_attr(doc, doc = #picture)])
        });
        (default, picture)
    }

    /// The proof that the role may run the session.
    pub(super) fn root(&self, role: &Ident) -> TokenStream {
        let (name, here) = (&self.item.name, &self.here);
        let facts = self.scope.root(name);
        let machine = facts.and_then(|facts| facts.machine.as_ref());
        let machine = machine.map(|machine| constant(machine, self.krate));
        let is_refused = !facts.is_some_and(|facts| facts.passed);
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
        }
    }
}

/// The verified machine as a constant.
fn constant(machine: &Machine, krate: &TokenStream) -> TokenStream {
    let (role, states, initial, transitions) = machine;
    let transitions = transitions.iter().map(|transition| {
        let (source, sends, peer, label, payload, target) = transition;
        quote!((#source, #sends, #peer, #label, &[#(#payload),*], #target))
    });
    quote! {
        const MACHINE: ::core::option::Option<#krate::machine::Machine> = ::core::option::Option::Some(
            #krate::machine::Machine::new(#role, #states, #initial, &[#(#transitions),*]),
        );
    }
}
