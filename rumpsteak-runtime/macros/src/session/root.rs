//! A root: the proof that its role may run it, and what rustc checks of that proof.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use rumpsteak_contract::canonical::number;
use rumpsteak_contract::session::Path;
use rumpsteak_contract::verdict::Machine;

use super::expansion::Expansion;
use super::fingerprint;
use crate::verdict;

impl Expansion<'_> {
    /// The proof that the role may run this session, and the assertion that it was this session
    /// that was verified.
    pub(super) fn root(&self, role: &Path) -> TokenStream {
        let (name, here) = (&self.item.name, &self.here);
        let (proof, passed) = (&self.verdict.proof, self.verdict.passed);
        let machine = proof.machine.as_ref();
        let machine = machine.map(|machine| constant(machine, self.krate));
        let verified = (!passed).then(|| quote! { const VERIFIED: bool = false; });
        let plays = self.plays.then(|| {
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
        });
        let text = verdict::resolved_differently(name);
        let resolved = match (&proof.plays, &proof.body[..]) {
            (Some(verified), [(None, chain)]) => {
                // A struct answers with its identity; its body is asserted in `structure`.
                let expected = proof.id.unwrap_or_else(|| fingerprint::of(chain));
                let player = number(&[&verified.protocol, &verified.role]);
                let chain = self.item.chain();
                let rest = chain.map(|chain| self.rest_assertion(&self.parts(chain), role));
                Some(quote_spanned! {name.span()=>
                    #rest
                    ::core::assert!(
                        #here::private::fingerprint::is_root::<#role, #name<'static, #role>>(
                            #player,
                            #expected,
                        ),
                        #text
                    );
                })
            }
            _ => None,
        };
        let played = passed.then(|| {
            let players = proof.players.iter().map(|(system, module)| quote!((#system, #module)));
            quote_spanned! {name.span()=>
                ::core::assert!(#here::private::wiring::plays::<#role>(&[#(#players),*]), #text);
            }
        });
        let assertions = quote!(#resolved #played);
        let assertions = (!assertions.is_empty())
            .then(|| quote_spanned!(name.span()=> const _: () = { #assertions };));
        quote!(#plays #assertions)
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
