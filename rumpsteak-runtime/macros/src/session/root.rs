//! A root: the proof that its role may run it, and what rustc checks of that proof.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use rumpsteak_contract::session::{Direction, Path};
use rumpsteak_contract::verdict::{self as recorded, Body};

use super::expansion::Expansion;
use super::fingerprint;
use crate::verdict;

impl Expansion<'_> {
    /// The proof that the role may run this session, and the assertion that it was this session
    /// that was verified.
    pub(super) fn root(&self, role: &Path) -> TokenStream {
        let (name, here) = (&self.item.name, &self.here);
        let machine = self.proof.machine.as_ref();
        let machine = machine.map(|machine| constant(machine, self.krate));
        let plays = self.plays.then(|| {
            quote_spanned! {name.span()=>
                #[automatically_derived]
                impl<'s> #here::private::Plays<#name<'s, #role>> for #role {
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
                let expected = fingerprint::of(chain, here);
                // A struct answers with its identity; its body is asserted in `structure`.
                let expected = match self.proof.id {
                    Some(id) => quote!(#id),
                    None => expected,
                };
                let text = verdict::resolved_differently(name);
                Some(quote_spanned! {name.span()=>
                    const _: () = ::core::assert!(
                        #here::private::fingerprint::root(
                            <#role as #here::Role>::PROTOCOL,
                            <#role as #here::Role>::NAME,
                            <#name<'static, #role> as #here::private::Structure>::FINGERPRINT,
                        ) == #here::private::fingerprint::root(#protocol, #verified, #expected),
                        #text
                    );
                })
            }
            _ => None,
        };
        let counted = self.passed.then(|| {
            let system = self.proof.system.as_ref().map_or(0, |system| system.id);
            let text = verdict::not_counted(name, role);
            quote_spanned! {name.span()=>
                const _: () = ::core::assert!(
                    #here::private::wiring::counted::<#role>(#system),
                    #text
                );
            }
        });
        quote!(#plays #assertion #counted)
    }
}

/// The machine that was verified, for `serialize`.
fn constant(machine: &recorded::Machine, krate: &TokenStream) -> TokenStream {
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
        quote!(#krate::machine::Transition::new(#source, #sends, #peer, #label, &[#(#payload),*], #target))
    });
    quote! {
        const MACHINE: ::core::option::Option<#krate::machine::Machine> = ::core::option::Option::Some(
            #krate::machine::Machine::new(#role, #states, #initial, &[#(#transitions),*]),
        );
    }
}
