//! Proposals: orders of a role's actions that subtyping proves and that shorten the critical path.
//!
//! ```text
//!   propose(projection, peers) = [(M₁, t₁), (M₂, t₂), …]      Mᵢ ≤ projection,  t₁ ≤ t₂ ≤ …
//! ```
//!
//! # What is tried
//! Waiting costs time and sending does not, so the only change that helps is to send *before*
//! waiting. A candidate is given by a *window* for each peer: up to so many messages to it may be
//! sent before their turn ([`anticipate`]). With one window this is
//!
//! * hoisting a send over the receives before it (a ring: window 1), or over a choice of which all
//!   branches send it;
//! * unrolling a loop, and hoisting what the next round sends into this one (double buffering:
//!   window 1 towards the source);
//! * letting a stream run ahead of its acknowledgements (window n).
//!
//! ```text
//!   rec X . s!ready . s?value . t?ready . t!value . X              the projection onto the kernel
//!   s!ready . rec X . s!ready . s?value . t?ready . t!value . X    window 1 towards s: PPoPP'22, Fig. 4b
//! ```
//!
//! A send never overtakes the receives that it *depends* on: the caller says which those are, or
//! takes [`received_before`] for them.
//!
//! # Why it is sound
//! Every candidate goes through [`certified`](crate::verify::certified), that is through
//! asynchronous subtyping and the checker of its certificate; if a role is not directed, it is not
//! reordered, and the others are judged [together](mod@crate::verify::together) with all roles.
//! What is not proven is not proposed.
//!
//! # How they are ranked
//! By the time that a fixed piece of work takes under [`Costs`] ([`cost`]). Of two that are equally
//! fast the one with the smaller windows is better: it needs less memory.
//!
//! # Cost
//! One run of the verifier and one of the timing for each candidate; there are at most
//! [`Options::candidates`] of them, each of at most [`Options::states`] states.

pub mod cost;
mod propose;
mod reorder;
mod rounds;

pub use self::cost::{Costs, Event};
pub use self::propose::{Options, Proposal, Proposals, Together, propose, propose_together};
pub use self::reorder::{Depends, anticipate};
pub use self::rounds::received_before;
