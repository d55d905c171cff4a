//! The machine of a session, for tests and tools.

use rumpsteak_fsm::{Action, Fsm};

use crate::private::{Machine, Owned, Plays};
use crate::states::Session;

/// The machine of a session that was verified: the one that the build verified, with the names of the protocol
/// (PPoPP'22, §2.2).
///
/// ```text
/// let machine = serialize::<Kernel<'_>>();
/// println!("{machine:?}");
///
/// k: 5 states from 0, 0 -s!ready-> 1, 1 -s!ready-> 2, 2 -s?value(i32)-> 3, …
/// ```
///
/// The build script serialises each `#[session(…)]` and leaves the machine with its verdict; the macro makes it a
/// constant of the proof, which holds for no other type. So this walks over no type, and works for every root.
///
/// With `rumpsteak-fsm`, re-exported as `fsm`, the machine can be compared, composed with others and, with the features
/// of that crate, printed.
///
/// A session that the build refused has no machine, but its crate does not compile. A hand-written proof gives a machine
/// without transitions.
///
/// Linear in the machine.
#[must_use]
pub fn serialize<S>() -> Fsm
where
    S: Session<State: Owned>,
    <S::State as Owned>::Role: Plays<S>,
{
    let machine = <<S::State as Owned>::Role as Plays<S>>::MACHINE;
    let Machine {
        role,
        states,
        initial,
        transitions,
    } = machine.unwrap_or(Machine {
        role: <<S::State as Owned>::Role as crate::Role>::NAME,
        states: 1,
        initial: 0,
        transitions: &[],
    });
    let mut fsm = Fsm::builder(role);
    let states: Vec<_> = (0..states.max(1)).map(|_| fsm.add_state()).collect();
    // The build wrote numbers of states; others would be those of nothing.
    let state = |number: usize| states[number.min(states.len() - 1)];
    for &(source, sends, peer, label, payload, target) in transitions {
        let action = if sends {
            Action::send(peer, label, payload)
        } else {
            Action::receive(peer, label, payload)
        };
        fsm.add_transition(state(source), action, state(target));
    }
    fsm.build(state(initial))
}
