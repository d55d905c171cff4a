//! Cutting of long chains into structs.
//!
//! ```text
//! type Kernel = Send<P, A, … Send<P, H, Receive<P, I, End>>>;       nine actions
//!
//!     type Kernel<'s, R = K> = Send<'s, R, P, A, … Send<'s, R, P, H, KernelFrom9<'s, R>>>;
//!     struct KernelFrom9<'s, R: Role>(Receive<'s, R, P, I, End<'s, R>>);
//! ```
//!
//! The type of a state contains all later states, and rustc's work for a type grows with its depth.
//! Without the structs, time and memory would be quadratic in the length of a chain.

use proc_macro2::Ident;
use quote::format_ident;
use rumpsteak_front::session::Chain;

/// The number of actions that a type nests.
const LONGEST: usize = 8;

/// A chain, and the base name of the structs that it is cut into.
pub(super) struct Parts<'a> {
    pub(super) chain: &'a Chain,
    /// The name of the item, or of an enum and its variant.
    pub(super) name: Ident,
}

impl Parts<'_> {
    pub(super) fn is_short(chain: &Chain) -> bool {
        chain.actions.len() <= LONGEST
    }

    /// The actions with which the structs begin.
    pub(super) fn cuts(&self) -> impl Iterator<Item = usize> {
        (LONGEST..self.chain.actions.len()).step_by(LONGEST)
    }

    /// The name of the struct that begins at a cut.
    pub(super) fn part(&self, cut: usize) -> Ident {
        format_ident!("{}From{}", self.name, cut + 1)
    }
}
