//! The machine of a session, for tests and tools.
//!
//! The macro makes the machine that the build script verified a constant.
//! ```text
//! let machine = Machine::of::<Kernel<'_>>();
//! println!("{machine}");
//!
//! k: 5 states from 0, 0 -s!ready-> 1, 1 -s!ready-> 2, 2 -s?value(i32)-> 3, …
//! ```

use std::fmt;

/// A communicating machine (PPoPP'22, §2.2): the actions of a session, with the names of the
/// protocol. Without a protocol, it has the names of the source.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The [protocol](crate::Role::PROTOCOL) of the role; empty for a role without a protocol.
    pub protocol: &'static str,
    /// The name of the role.
    pub role: &'static str,
    /// The number of states, which are numbered from 0.
    pub states: usize,
    /// The state in which the session begins.
    pub initial: usize,
    transitions: &'static [Row],
}

/// The fields of a [`Transition`] in their order, as the macro writes them.
type Row = (usize, bool, &'static str, &'static str, &'static [&'static str], usize);

impl Machine {
    /// Used by the macro.
    #[doc(hidden)]
    pub const fn new(
        role: &'static str,
        states: usize,
        initial: usize,
        transitions: &'static [Row],
    ) -> Self {
        Self { protocol: "", role, states, initial, transitions }
    }

    /// The transitions, ordered by source.
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

/// A transition of a [`Machine`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Transition {
    /// The state before the action.
    pub source: usize,
    /// True if the action sends; false if it receives.
    pub sends: bool,
    /// The role at the other end of the action.
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
