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
//! with its depth: without the structs, time and memory for a chain would be quadratic.

use proc_macro2::Ident;
use quote::format_ident;
use rumpsteak_front::session::Chain;

/// How many actions a type nests.
const LONGEST: usize = 8;

/// A chain, and the names of the structs in which it goes on.
pub(super) struct Parts<'a> {
    pub(super) chain: &'a Chain,
    /// The item, or an enum and its variant.
    pub(super) name: Ident,
}

impl Parts<'_> {
    /// True if the chain goes on in no struct.
    pub(super) fn is_short(chain: &Chain) -> bool {
        chain.actions.len() <= LONGEST
    }

    /// The actions from which the chain goes on in a struct.
    pub(super) fn cuts(&self) -> impl Iterator<Item = usize> {
        (LONGEST..self.chain.actions.len()).step_by(LONGEST)
    }

    /// The name of the struct from a cut on.
    pub(super) fn part(&self, cut: usize) -> Ident {
        format_ident!("{}From{}", self.name, cut + 1)
    }
}
