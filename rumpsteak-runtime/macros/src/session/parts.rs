//! Long chains: structs in which they go on.
//!
//! ```text
//! type Kernel = Send<P, A, … Send<P, H, Receive<P, I, End>>>;       nine actions
//!
//!     type Kernel<'s, R = K> = Send<'s, R, P, A, … Send<'s, R, P, H, KernelFrom9<'s, R>>>;
//!     struct KernelFrom9<'s, R: Role>(Receive<'s, R, P, I, End<'s, R>>);
//! ```
//!
//! A state of a session is a type that contains all that follows, and rustc's work for a type grows
//! with its depth: without the structs, time and memory for a chain would be quadratic. They are
//! nominal in the types only: in fingerprints, they are the rest of the chain.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rumpsteak_contract::session::{Chain, Path, Variant};
use rumpsteak_contract::verdict::Step;

use super::expansion::Expansion;
use super::fingerprint;
use super::structure::Struct;

/// How many actions a type nests.
const LONGEST: usize = 8;

/// A chain, and what the structs are called in which it goes on.
pub(super) struct Parts<'a> {
    pub(super) chain: &'a Chain,
    /// The item, or an enum and its variant.
    name: Ident,
    /// What was verified; empty if nothing was.
    pub(super) verified: &'a [Step],
}

impl Parts<'_> {
    /// The actions from which the chain goes on in a struct.
    pub(super) fn cuts(&self) -> impl Iterator<Item = usize> {
        (LONGEST..self.chain.actions.len()).step_by(LONGEST)
    }

    fn part(&self, cut: usize) -> Ident {
        format_ident!("{}From{}", self.name, cut + 1)
    }
}

impl Expansion<'_> {
    /// The chain of a type or a struct.
    pub(super) fn parts<'a>(&'a self, chain: &'a Chain) -> Parts<'a> {
        Parts { chain, name: self.item.name.clone(), verified: self.verified(0) }
    }

    /// The chains of a choice.
    pub(super) fn options<'a>(&'a self, variants: &'a [Variant]) -> Vec<Parts<'a>> {
        let option = |(position, variant): (usize, &'a Variant)| Parts {
            chain: &variant.then,
            name: format_ident!("{}{}", self.item.name, variant.name),
            verified: self.verified(position),
        };
        variants.iter().enumerate().map(option).collect()
    }

    /// What was verified of a chain of the item.
    fn verified(&self, position: usize) -> &[Step] {
        self.verdict.proof.body.get(position).map_or(&[], |(_, chain)| chain)
    }

    /// The struct of a chain from a cut on.
    pub(super) fn part(&self, parts: &Parts<'_>, cut: usize) -> TokenStream {
        let (name, role) = (parts.part(cut), &self.role);
        quote!(#name<'s, #role>)
    }

    /// Asserts that the structs in which a root goes on are what was verified, before they are
    /// entered.
    pub(super) fn rest_assertion(&self, parts: &Parts<'_>, role: &Path) -> TokenStream {
        let here = &self.here;
        let names = parts.cuts().map(|cut| parts.part(cut));
        quote! {
            #(let _ = <#names<'static, #role> as #here::states::Session>::BY_MACRO;)*
        }
    }

    /// The structs in which a chain goes on.
    pub(super) fn rest(&self, parts: &Parts<'_>) -> TokenStream {
        let krate = self.krate;
        let bound = quote!(#krate::Role);
        let structs = parts.cuts().map(|cut| {
            let name = parts.part(cut);
            let docs = format!("The rest of `{}`, from action {} on.", parts.name, cut + 1);
            // Where nothing was verified, the identity matches no proof.
            let id = match parts.verified.get(cut..) {
                Some(verified) if !verified.is_empty() => fingerprint::of(verified),
                _ => self.id(),
            };
            let attributes = quote!(#[doc = #docs]);
            let parameters = self.parameters(Some(bound.clone()), None);
            self.nominal(parts, &Struct { name, attributes, parameters, from: cut, id })
        });
        structs.collect()
    }
}
