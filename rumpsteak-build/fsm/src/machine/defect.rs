//! Why a machine does not stand for a local type.

use std::error::Error;
use std::fmt;

use super::{Action, Role, StateId, TransitionId};

/// A defect because of which [`check_directed`](crate::Fsm::check_directed) refuses a machine.
///
/// A local type (PPoPP'22, Definition 1) offers in each state a choice between messages with
/// distinct labels, all sent to one peer or all received from one peer. Subtyping is defined on
/// these machines only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// The state both sends and receives.
    Mixed {
        /// The state.
        state: StateId,
        /// The first of its sends.
        send: TransitionId,
        /// The first of its receives.
        receive: TransitionId,
    },
    /// Two transitions of the state have one peer, direction and label.
    Nondeterministic {
        /// The state.
        state: StateId,
        /// The action that occurs twice.
        action: Action,
        /// The two transitions, in insertion order.
        transitions: [TransitionId; 2],
    },
    /// The machine sends to itself or receives from itself.
    SelfMessage {
        /// The state.
        state: StateId,
        /// The transition.
        transition: TransitionId,
        /// The role that is both ends of the message.
        role: Role,
    },
    /// The state chooses between peers.
    Undirected {
        /// The state.
        state: StateId,
        /// The peers, in order of first occurrence; at least two.
        peers: Vec<Role>,
    },
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mixed { state, .. } => write!(
                f,
                "state {state} both sends and receives; \
                 let it do one first and the other in a state of its own"
            ),
            Self::Nondeterministic { state, action, .. } => write!(
                f,
                "state {state} has two transitions `{}{}{}`; give the messages different labels, or join the two",
                action.peer, action.direction, action.message.label
            ),
            Self::SelfMessage { state, role, .. } => write!(
                f,
                "in state {state} `{role}` exchanges a message with itself; name another role as its peer"
            ),
            Self::Undirected { state, peers } => {
                let names: Vec<String> = peers.iter().map(|peer| format!("`{peer}`")).collect();
                let [others @ .., last] = &names[..] else { return Ok(()) };
                let others = others.join(", ");
                write!(
                    f,
                    "state {state} chooses between the peers {others} and {last}; \
                     let one peer decide, and tell the others after it"
                )
            }
        }
    }
}

impl Error for Defect {}
