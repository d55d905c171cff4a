//! Traits that only the macros implement.

/// A seal. A trait that asks for a `ByMacro` is implemented by the macros only.
#[derive(Debug)]
pub struct ByMacro<T = ()>(pub T);

/// A [`ByMacro`] for `C`, `L` and `P`, as a type. It costs rustc no constant to check, and a type
/// copied from another `impl` does not fit.
pub trait Seals<C: ?Sized, L, P> {}

impl<C, L, P> Seals<C, L, P> for ByMacro<fn(C, L, P)> {}

/// The facts about a role that its macro writes down. Empty for a stub.
#[derive(Debug)]
pub struct Played {
    /// [`Role::PROTOCOL`](crate::Role::PROTOCOL).
    pub protocol: &'static str,
    /// [`Role::NAME`](crate::Role::NAME).
    pub role: &'static str,
    /// True for a family, which many members play.
    pub is_family: bool,
    /// True if a ring connects the role to other members of its family.
    pub is_in_ring: bool,
    /// True if the members of families may send different messages.
    pub differ: bool,
    /// True if roles may send where they have heard some of the members.
    pub stops: bool,
    /// A hash of both names.
    pub number: u64,
    /// The system for which the queue capacities were proven: a hash of all sessions of all its
    /// roles. A role without proven capacities has a number of its own.
    pub system: u64,
    /// The projections of the protocol onto all of its roles, in the text form of `rumpsteak-fsm`.
    /// Empty for a role without a protocol.
    pub projections: &'static str,
    /// The roles of the protocol that start on demand.
    pub on_demand: &'static [&'static str],
    /// A hash of all sessions of all roles, if this role's sessions are only safe together with
    /// them; otherwise 0.
    pub closed: u64,
}

/// A label of a message type.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// [`Message::NAME`](crate::Message::NAME).
    pub name: &'static str,
    /// The number of the label in its message type, which a branch matches on. A wrong number does
    /// no harm: `downcast` checks again.
    pub tag: usize,
}
