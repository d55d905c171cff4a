//! The machine of a session, for tests and tools.
//!
//! The build script judges a machine for each session with a role. The macro makes this machine a
//! constant of the proof. So the machine here is the one that was verified.
//!
//! ```text
//! let machine = Machine::of::<Kernel<'_>>();
//! println!("{machine}");
//!
//! k: 5 states from 0, 0 -s!ready-> 1, 1 -s!ready-> 2, 2 -s?value(i32)-> 3, …
//! ```

use std::fmt;

/// A communicating machine (PPoPP'22, §2.2): what a session does, with the names of the protocol.
///
/// Without a protocol, the names are those of the source.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub(crate) protocol: &'static str,
    role: &'static str,
    states: usize,
    initial: usize,
    transitions: &'static [Row],
}

/// A [`Transition`], as the macro writes it: its fields, in their order.
type Row = (usize, bool, &'static str, &'static str, &'static [&'static str], usize);

impl Machine {
    /// For the macro: the machine that was verified.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        role: &'static str,
        states: usize,
        initial: usize,
        transitions: &'static [Row],
    ) -> Self {
        Self { protocol: "", role, states, initial, transitions }
    }

    /// The [protocol](crate::Role::PROTOCOL) of the role, or `""` for a role without one.
    #[must_use]
    pub fn protocol(&self) -> &'static str {
        self.protocol
    }

    /// The name of the role.
    #[must_use]
    pub fn role(&self) -> &'static str {
        self.role
    }

    /// The number of states: they are numbered from 0.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// The state in which the session begins.
    #[must_use]
    pub fn initial(&self) -> usize {
        self.initial
    }

    /// The transitions, in the order of their sources.
    pub fn transitions(&self) -> impl ExactSizeIterator<Item = Transition> {
        self.transitions.iter().map(|&(source, sends, peer, label, payload, target)| Transition {
            source,
            sends,
            peer,
            label,
            payload,
            target,
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, states, initial, .. } = self;
        write!(f, "{role}: {states} states from {initial}")?;
        for transition in self.transitions() {
            write!(f, ", {transition}")?;
        }
        Ok(())
    }
}

/// A transition of a [`Machine`]: one action.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Transition {
    /// The state before the action.
    pub source: usize,
    /// Whether the action sends; otherwise, it receives.
    pub sends: bool,
    /// The role to which the action sends, or from which it receives.
    pub peer: &'static str,
    /// The label.
    pub label: &'static str,
    /// The sorts of the payload.
    pub payload: &'static [&'static str],
    /// The state after the action.
    pub target: usize,
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.sends { '!' } else { '?' };
        write!(f, "{} -{}{direction}{}", self.source, self.peer, self.label)?;
        if !self.payload.is_empty() {
            write!(f, "({})", self.payload.join(", "))?;
        }
        write!(f, "-> {}", self.target)
    }
}
