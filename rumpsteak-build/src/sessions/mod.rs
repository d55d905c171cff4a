//! A root and all that it reaches, as a machine.
//!
//! ```text
//! #[session(K)] type Kernel = Send<S, Ready, KernelLoop>;
//! #[session] struct KernelLoop(Receive<S, Value, Send<S, Ready, Self>>);
//!
//!   0 ──s!ready──▶ 1 ──s?value──▶ 2
//!                  ▲              │
//!                  └───s!ready────┘
//! ```
//!
//! 1. [`resolve`]: the names of each item that the root reaches, once per item: paths to items,
//!    roles to those of the protocol, labels to its messages. A wrong name is a fault at its token,
//!    and then there is no machine.
//! 2. [`cycles`]: items that lead back to themselves without an action are faults, too.
//! 3. [`machine`]: the chains become states and transitions, each with the token it comes from.
//! 4. [`outline`]: what rustc sees of the session's type, for the proof.
//!
//! [`unmarked`] finds what was meant to be one of the items, and does not say so; [`parts`] looks
//! at the items that no root reaches.
//!
//! Linear in the tokens of the items reached, times the imports per name.

mod cycles;
pub(crate) mod machine;
pub(crate) mod outline;
pub(crate) mod parts;
pub(crate) mod resolve;
pub(crate) mod resolved;
pub(crate) mod unmarked;
