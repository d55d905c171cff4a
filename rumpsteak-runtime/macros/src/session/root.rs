//! The proof that a role may run a session.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use rumpsteak_build::expansion::Machine;

use super::expansion::Expansion;

impl Expansion<'_> {
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

/// The machine that was verified, for the `machine` of the runtime.
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
