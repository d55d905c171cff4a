//! What keeps a public trait to the macros.

/// A trait that asks for one of these is implemented by macros only, which say `T` in it.
#[derive(Debug)]
pub struct ByMacro<T = ()>(pub T);

/// A [`ByMacro`] for `C`, `L` and `P`, as a type: rustc checks no body for it, and one that is
/// borrowed from another `impl` does not fit.
pub trait Seals<C: ?Sized, L, P> {}

impl<C, L, P> Seals<C, L, P> for ByMacro<fn(C, L, P)> {}

/// What a role plays.
#[derive(Debug)]
pub struct Played {
    /// [`Role::PROTOCOL`](crate::Role::PROTOCOL).
    pub protocol: &'static str,
    /// [`Role::NAME`](crate::Role::NAME).
    pub role: &'static str,
    /// A number for both names.
    pub number: u64,
    /// The system that the capacities of the role's queues were proven for: a number made from all
    /// the sessions of all its roles. A role without proven capacities has a number of its own.
    pub system: u64,
    /// The projections of the protocol onto all of its roles: a text that `rumpsteak-fsm` reads.
    /// Empty for a role without a protocol.
    pub projections: &'static str,
    /// The roles of the protocol that play on demand.
    pub on_demand: &'static [&'static str],
    /// A number for all sessions of all roles, if those of this role are safe with them only;
    /// otherwise 0.
    pub closed: u64,
}

impl Played {
    /// What a stub plays: nothing.
    pub const STUB: Self = Self {
        protocol: "",
        role: "",
        number: 0,
        system: 0,
        projections: "",
        on_demand: &[],
        closed: 0,
    };
}

impl Label {
    /// The label of a stub.
    pub const STUB: Self = Self { name: "", tag: 0 };
}

/// A label of a message type.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// [`Message::NAME`](crate::Message::NAME).
    pub name: &'static str,
    /// The number of the label among those of the message type: what a branch matches on. A wrong
    /// number is no danger: `downcast` looks again.
    pub tag: usize,
}
