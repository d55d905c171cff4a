//! The composition of machines into a system.

use std::error::Error;
use std::fmt;

use hashbrown::HashMap;

use crate::machine::{Fsm, Role, Transition, TransitionId};

/// The machines of all roles of a protocol. Roles are pairwise distinct, and every peer of a
/// transition is one of them.
#[derive(Clone, Debug)]
pub struct System {
    machines: Vec<Fsm>,
    indices: HashMap<Role, usize>,
}

impl System {
    /// Composes the machines. They need not be directed. Machines [on demand](Fsm::on_demand) begin
    /// again when they are finished.
    ///
    /// # Errors
    /// Two machines of one role, or a transition whose peer has no machine or is its own role.
    pub fn new(machines: Vec<Fsm>) -> Result<Self, SystemError> {
        let system = Self::with_self_messages(machines)?;
        for machine in &system.machines {
            let role = machine.role();
            if let Some(by) = machine.transitions().find(|by| by.action.peer == *role) {
                return Err(SystemError::SelfMessage(role.clone(), by.id));
            }
        }
        Ok(system)
    }

    /// The same for machines that may send messages to themselves.
    pub(crate) fn with_self_messages(machines: Vec<Fsm>) -> Result<Self, SystemError> {
        let mut indices = HashMap::new();
        for (index, machine) in machines.iter().enumerate() {
            if indices.insert(machine.role().clone(), index).is_some() {
                return Err(SystemError::Duplicate(machine.role().clone()));
            }
        }
        for machine in &machines {
            let is_unknown = |by: &Transition<'_>| !indices.contains_key(&by.action.peer);
            if let Some(by) = machine.transitions().find(is_unknown) {
                let (role, peer) = (machine.role().clone(), by.action.peer.clone());
                return Err(SystemError::UnknownPeer { role, transition: by.id, peer });
            }
        }
        let repeat = |fsm: Fsm| if fsm.is_on_demand() { fsm.repeated() } else { fsm };
        let machines = machines.into_iter().map(repeat).collect();
        Ok(Self { machines, indices })
    }

    /// The machines, in the order in which they were given.
    pub fn machines(&self) -> &[Fsm] {
        &self.machines
    }

    /// The position of the machine of `role`.
    pub fn index_of(&self, role: &Role) -> Option<usize> {
        self.indices.get(role).copied()
    }
}

/// Why machines cannot be composed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemError {
    /// Two machines have one role.
    Duplicate(Role),
    /// The machine of this role exchanges a message with itself, by this transition.
    SelfMessage(Role, TransitionId),
    /// A machine's peer has no machine.
    UnknownPeer {
        /// The machine's role.
        role: Role,
        /// The transition that names the peer.
        transition: TransitionId,
        /// The peer.
        peer: Role,
    },
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(role) => {
                write!(f, "there are two machines of `{role}`; a system has one for each role")
            }
            Self::SelfMessage(role, _) => {
                write!(f, "`{role}` exchanges a message with itself; name another role as its peer")
            }
            Self::UnknownPeer { role, peer, .. } => {
                write!(f, "`{role}` talks to `{peer}`, which has no machine; add it to the system")
            }
        }
    }
}

impl Error for SystemError {}
