//! Roles: the participants of a protocol.
//!
//! A role is a struct with one route per peer. It runs one session after the other over the same
//! routes: `try_run` borrows it exclusively for the duration of a session.

pub(crate) mod fingerprint;
pub(crate) mod on_demand;
pub(crate) mod participant;
pub(crate) mod poisoning;
pub(crate) mod stub;
pub mod wiring;

use self::participant::Participant;
use crate::message::Labelled;
use crate::seal::{ByMacro, Played};
use crate::transport::capacity::Capacity;
use crate::transport::link::Link;

/// A participant of a protocol: a struct of a module with `#[protocol(…)]` or `#[closed_system]`,
/// generated or with `#[derive(Role)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a role",
    label = "not a role",
    note = "a role is a struct of a module with `#[protocol(…)]` or `#[closed_system]`; if `{Self}` is a \
            parameter, name a role in its place; if it only has the name of a role, name the role by its path: `module::Name`"
)]
pub trait Role: Participant<Itself = Self> {
    /// The protocol that the role takes part in, or the name of the module of a closed system.
    const PROTOCOL: &'static str = Self::PLAYED.0.protocol;

    /// The name of the role in the protocol.
    const NAME: &'static str = Self::PLAYED.0.role;

    #[doc(hidden)]
    const PLAYED: ByMacro<Played>;

    /// The message type that the role exchanges with its peers.
    type Message: Labelled;

    /// Returns true if an earlier session of this role did not return its
    /// [`End`](crate::states::End).
    ///
    /// A poisoned role refuses to begin a session
    /// ([`ErrorKind::Poisoned`](crate::ErrorKind::Poisoned)), because its peers may hold messages
    /// of the aborted session. Reset all roles of the set together: `roles.reset()`, or
    /// `Roles::reset_each(&mut s, &mut k)` for roles that were moved out of it.
    #[inline]
    fn is_poisoned(&self) -> bool {
        let mut in_session = false;
        self.for_each_mark(|_, mark| in_session |= mark.in_session());
        in_session
    }
}

/// A role that has a route to `Peer`: a field with `#[route(Peer)]`.
#[diagnostic::on_unimplemented(
    message = "role `{Self}` has no route to `{Peer}`",
    label = "`{Self}` has no route to `{Peer}`",
    note = "if `{Self}` is a struct of yours, add a field to it: `#[route({Peer})] field: Channel<..>`; if it is a \
            parameter, name the role that runs the session, not its peer: `Session<'_, K>`"
)]
pub trait Route<Peer>: Role {
    /// The type of the route, for example [`Channel`](crate::Channel).
    type Link: Link;

    /// The capacity of the queue to the peer, as proven for the system of the role.
    #[doc(hidden)]
    const CAPACITY: ByMacro<Capacity>;

    /// The route to `Peer`.
    ///
    /// Messages that you put into it by hand belong to no session and are not verified.
    fn route(&mut self) -> &mut Self::Link;
}
