//! The composition of machines into a system.

use std::error::Error;
use std::fmt;

use hashbrown::HashMap;

use crate::machine::{Action, Direction, Fsm, Message, Role, Transition, TransitionId};

/// The machines of all roles of a protocol. Roles are pairwise distinct, and every peer of a
/// transition is one of them.
#[derive(Clone, Debug)]
pub struct System {
    machines: Vec<Fsm>,
    indices: HashMap<Role, usize>,
}

impl System {
    /// Composes the machines. They need not be directed. Machines [on demand](Fsm::on_demand) begin
    /// again when they are finished. States and transitions keep their ids. Behind them are others
    /// if a machine [drops](Fsm::dropping) late messages.
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
        let senders = machines.iter().flat_map(|machine| {
            machine.late().keys().map(|sender| (sender.clone(), machine.role().clone()))
        });
        let senders: Vec<(Role, Role)> = senders.filter(|of| indices.contains_key(&of.0)).collect();
        let machines = machines.into_iter().map(|fsm| end_late(repeat(fsm), &senders)).collect();
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

/// The label of the message that stands for the end of its sender. No other label has a space.
const ITS_END: &str = "its end";

/// True if a message stands for the end of its sender.
pub(super) fn is_end(message: &Message) -> bool {
    message.label.as_str() == ITS_END
}

/// The machine that tells its end to the roles that [drop](Fsm::dropping) what it sends late, and
/// drops such messages until it is told. `senders` has all pairs of such roles.
fn end_late(fsm: Fsm, senders: &[(Role, Role)]) -> Fsm {
    let told = senders.iter().filter(|(sender, _)| sender == fsm.role());
    let told = told.map(|(_, receiver)| (receiver, Direction::Send));
    let late = senders.iter().filter(|(_, receiver)| receiver == fsm.role());
    let ends: Vec<(&Role, Direction)> =
        told.chain(late.map(|(sender, _)| (sender, Direction::Receive))).collect();
    if ends.is_empty() {
        return fsm;
    }
    let end = Message { label: ITS_END.into(), payload: vec![] };
    let mut builder = fsm.edit();
    for mut state in fsm.states().filter(|&state| fsm.is_terminal(state)) {
        for &(peer, direction) in &ends {
            let next = builder.add_state();
            let late = fsm.late().get(peer).filter(|_| direction == Direction::Receive);
            let late = late.into_iter().flatten().map(|message| (message, state));
            for (message, to) in late.chain([(&end, next)]) {
                let action = Action { peer: peer.clone(), direction, message: message.clone() };
                builder.add_transition(state, action, to);
            }
            state = next;
        }
    }
    builder.build(fsm.initial())
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
