use rumpsteak_fsm::{Action, Direction, Fsm, Message, StateId};

use crate::machine::Machine;
use crate::states::Session;
use crate::states::proof::{InRole, Plays};

/// Returns the machine of a session, as `serialize` of the paper does (PPoPP'22, §2.2 and §4).
///
/// This is the verified machine, [`Machine::of`], as a value that `rumpsteak_fsm` prints and
/// compares.
pub fn serialize<S>() -> Fsm
where
    S: Session<State: InRole>,
    <S::State as InRole>::Role: Plays<S>,
{
    let machine = Machine::of::<S>();
    let mut fsm = Fsm::builder(machine.role);
    let states: Vec<StateId> = (0..machine.states).map(|_| fsm.add_state()).collect();
    for transition in machine.transitions() {
        let payload = transition.payload.iter().map(|sort| (*sort).into()).collect();
        let action = Action {
            peer: transition.peer.into(),
            direction: if transition.sends { Direction::Send } else { Direction::Receive },
            message: Message { label: transition.label.into(), payload },
        };
        fsm.add_transition(states[transition.source], action, states[transition.target]);
    }
    fsm.build(states[machine.initial])
}
