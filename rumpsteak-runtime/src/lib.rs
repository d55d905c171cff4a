#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
//!
//! # What is where
//!
//! * [`#[protocol]`](macro@protocol) turns a module into the program of a protocol: it holds roles,
//!   messages and sessions, and what you do not write is generated.
//!   [`#[closed_system]`](macro@closed_system) does the same without a protocol.
//! * A session is built from the words `Send`, `Receive`, `Select`, `Branch` and `End`, which need
//!   no import. Each is a state in [`states`], whose method consumes it and returns the next one.
//! * `Roles::default().run(…)` runs one process per role in one task, on any executor. This is
//!   fastest if the roles mostly wait for each other. A process returns [`Ended`].
//! * [`try_run`] runs the process of one role, for example in its own task. [`join`](fn@join) runs
//!   several in one task. The futures are `Send` if the messages are.
//! * [`hold`] begins a session that owns its role, as a value for a struct or a `Vec`: see
//!   [`server`](guide::server).
//! * Roles are connected by [`Channel`]s (see [`channel`]), or by any `Sink` and `Stream` (see
//!   [`transport`]).
//! * A session that fails returns an [`Error`], poisons its role and wakes the peers. The roles run
//!   again once the set is [reset](guide::failure#reset).
//! * [`machine`] has the machine of a session, for tests and tools.
//! * [`watch`] reports who waits for whom if a program hangs.
//! * [`testing`](mod@testing) runs all roles in every order, and plays a peer by hand.
//!
//! The [`guide`] has a chapter for each question.
//!
//! # Features
//!
//! All are off by default.
//!
//! * `fsm`: `serialize::<S>()` returns the machine of a session as an `Fsm` of `rumpsteak-fsm`.
//! * `tracing`: a span for each session, and an event when an action begins to wait and when it
//!   completes.
//! * `watch`: [`watch`] works in optimised builds, too. Without it, they ignore `RUMPSTEAK_WATCH`.
//!
//! # When not to use it
//!
//! A protocol has a fixed number of roles and families, `role worker[N]`. For one request and one
//! answer, use a oneshot channel. For peers that come and go, verify the protocol of one connection
//! and manage the set of connections yourself.

/// Implements `Debug` for a type that cannot derive it: its name, and these fields.
#[doc(hidden)]
#[macro_export]
macro_rules! impl_debug {
    ([$($generics:tt)*] $name:ident$(<$($argument:tt),+>)?$(, $field:literal: |$it:pat_param| $value:expr)*) => {
        impl<$($generics)*> ::std::fmt::Debug for $name$(<$($argument),+>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                $({
                    let $it = self;
                    shown.field($field, &$value);
                })*
                shown.finish_non_exhaustive()
            }
        }
    };
}

pub mod channel;
mod detached;
pub mod error;
mod guard;
#[cfg(not(doctest))]
pub mod guide;
mod held;
pub mod join;
mod lending;
pub mod machine;
mod message;
mod payload;
#[doc(hidden)]
pub mod private;
mod role;
mod run;
mod seal;
#[cfg(feature = "fsm")]
mod serialize;
pub mod states;
mod sync;
pub mod testing;
pub mod transport;
pub mod watch;
mod woken;

pub use channel::Channel;
pub use detached::Detached;
pub use error::{Error, ErrorKind, Result};
pub use held::{Held, hold};
#[doc(inline)]
pub use join::join;
pub use message::Message;
pub use role::Role;
#[doc(hidden)]
pub use role::participant::Participant;
pub use rumpsteak_runtime_macros::{closed_system, protocol};
pub use run::{Running, RunningAll, try_run};
#[cfg(feature = "fsm")]
pub use serialize::serialize;
#[doc(inline)]
pub use states::Ended;

/// The name of [`try_run`] in the papers.
#[doc(no_inline)]
pub use run::try_run as try_session;
