//! Proposals: orders of a role's actions that subtyping proves and that shorten the critical path.
//!
//! ```text
//!   propose(projection, peers) = [(M₁, t₁), (M₂, t₂), …]      Mᵢ ≤ projection,  t₁ ≤ t₂ ≤ …
//! ```
//!
//! # What is tried
//! Waiting costs time and sending does not, so the only change that helps is to send *before*
//! waiting. A candidate has a *window* for each peer: so many messages to it may be sent before
//! their turn ([`anticipate`]). With one window this is
//!
//! * hoisting a send over the receives before it (a ring: window 1), or over a choice whose
//!   branches all send it;
//! * unrolling a loop, and hoisting a send of the next round into this one (double buffering:
//!   window 1 towards the source);
//! * letting a stream run ahead of its acknowledgements (window n).
//!
//! ```text
//!   rec X . s!ready . s?value . t?ready . t!value . X              the projection onto the kernel
//!   s!ready . rec X . s!ready . s?value . t?ready . t!value . X    window 1 towards s: PPoPP'22, Fig. 4b
//! ```
//!
//! A send never overtakes the receives that it *depends* on: the caller names them, or uses
//! [`received_before`].
//!
//! # Why it is sound
//! Every candidate is judged by [`certified`](rumpsteak_fsm::verify::certified): asynchronous subtyping
//! with a checked certificate. If a role is not directed, it is not reordered, and the others are
//! judged [together](mod@rumpsteak_fsm::verify::together) with all roles. Only proven orders are proposed.
//!
//! # How they are ranked
//! By the time that a fixed piece of work takes under [`Costs`] ([`cost`]); if equal, by the memory
//! that their windows need.
//!
//! # Cost
//! One proof and one simulation for each candidate; at most [`Options::candidates`] candidates of
//! at most [`Options::states`] states.

pub mod cost;
mod propose;
mod received_before;
mod reorder;

pub use self::cost::{Costs, Event};
pub use self::propose::{Options, Proposal, Proposals, Together, propose, propose_together};
pub use self::received_before::received_before;
pub use self::reorder::{Depends, anticipate};
