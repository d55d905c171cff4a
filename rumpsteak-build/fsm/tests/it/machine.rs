//! Machines as callers build and read them.

use rumpsteak_fsm::{Action, Defect, Direction, Fsm, Role, StateId, TransitionId};

/// The machine with these transitions and just enough states, started in state 0.
fn machine(role: &str, transitions: &[(usize, Action, usize)]) -> Fsm {
    let mut builder = Fsm::builder(role);
    let states = transitions.iter().map(|(from, _, to)| from.max(to) + 1).max().unwrap_or(1);
    let states: Vec<StateId> = (0..states).map(|_| builder.add_state()).collect();
    for (index, (from, action, to)) in transitions.iter().enumerate() {
        let id = builder.add_transition(states[*from], action.clone(), states[*to]);
        assert_eq!(id.index(), index);
    }
    builder.build(states[0])
}

fn send(peer: &str, label: &str) -> Action {
    Action::send(peer, label, &[])
}

fn receive(peer: &str, label: &str) -> Action {
    Action::receive(peer, label, &[])
}

#[test]
fn ids_are_dense_and_in_insertion_order() {
    let fsm = machine(
        "a",
        &[
            (1, send("b", "x"), 2),
            (0, receive("b", "z"), 1),
            (1, send("b", "y"), 0),
            (0, receive("b", "w"), 0),
        ],
    );
    assert_eq!(fsm.role(), &Role::from("a"));
    assert_eq!(fsm.len(), 3);
    assert_eq!(fsm.transition_count(), 4);
    assert_eq!(fsm.states().map(StateId::index).collect::<Vec<_>>(), [0, 1, 2]);
    let all: Vec<usize> = fsm.transitions().map(|t| t.id.index()).collect();
    assert_eq!(all, [0, 1, 2, 3]);

    let state = StateId::from_index;
    let from = |s| fsm.transitions_from(state(s)).map(|t| t.action.to_string()).collect::<Vec<_>>();
    assert_eq!(from(0), ["b?z", "b?w"]);
    assert_eq!(from(1), ["b!x", "b!y"]);
    assert_eq!(from(2), [""; 0]);
    assert_eq!(from(3), [""; 0]);
    assert!(fsm.is_terminal(state(2)));
    assert!(!fsm.is_terminal(state(1)));

    let last = fsm.transition(TransitionId::from_index(2));
    assert_eq!((last.source, last.target), (state(1), state(0)));
    assert_eq!(last.action.direction, Direction::Send);
}

#[test]
fn actions_read_as_in_the_paper() {
    assert_eq!(send("s", "ready").to_string(), "s!ready");
    assert_eq!(Action::receive("t", "value", &["i32", "u8"]).to_string(), "t?value(i32, u8)");
}

#[test]
fn machines_are_equal_as_written() {
    let one = machine("a", &[(0, send("b", "x"), 1)]);
    assert_eq!(one, machine("a", &[(0, send("b", "x"), 1)]));
    assert_ne!(one, machine("c", &[(0, send("b", "x"), 1)]));
    assert_ne!(one, machine("a", &[(0, send("b", "x"), 0)]));
    assert_eq!(format!("{one:?}"), "a: 2 states from 0, 0 -b!x-> 1");
}

#[test]
fn reachable_states_leave_dead_ones_out() {
    let fsm = machine("a", &[(0, send("b", "x"), 1), (2, receive("b", "y"), 1)]);
    assert_eq!(fsm.reachable().map(StateId::index).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_state_alone_is_a_directed_machine() {
    let fsm = machine("a", &[]);
    assert_eq!(fsm.check_directed(), Ok(()));
    assert!(fsm.is_terminal(fsm.initial()));
}

#[test]
fn a_choice_of_labels_is_directed() {
    let fsm = machine("a", &[(0, send("b", "x"), 0), (0, send("b", "y"), 1)]);
    assert_eq!(fsm.check_directed(), Ok(()));
}

#[test]
fn a_state_that_sends_and_receives_is_refused() {
    let fsm = machine("a", &[(0, receive("b", "x"), 0), (0, send("b", "y"), 1)]);
    let defect = fsm.check_directed().unwrap_err();
    assert_eq!(
        defect,
        Defect::Mixed {
            state: fsm.initial(),
            send: TransitionId::from_index(1),
            receive: TransitionId::from_index(0),
        }
    );
    assert_eq!(
        defect.to_string(),
        "state 0 both sends and receives; let it do one first and the other in a state of its own"
    );
}

#[test]
fn a_choice_of_peers_is_refused() {
    let fsm =
        machine("a", &[(0, send("b", "x"), 1), (0, send("c", "x"), 1), (0, send("d", "x"), 1)]);
    let defect = fsm.check_directed().unwrap_err();
    assert_eq!(
        defect,
        Defect::Undirected {
            state: fsm.initial(),
            peers: vec!["b".into(), "c".into(), "d".into()]
        }
    );
    assert_eq!(
        defect.to_string(),
        "state 0 chooses between the peers `b`, `c` and `d`; let one peer decide, and tell the others after it"
    );
}

#[test]
fn two_transitions_with_one_label_are_refused_whatever_they_carry() {
    let fsm = machine(
        "a",
        &[(0, Action::receive("b", "x", &["i32"]), 0), (0, Action::receive("b", "x", &["u8"]), 1)],
    );
    let defect = fsm.check_directed().unwrap_err();
    assert_eq!(
        defect,
        Defect::Nondeterministic {
            state: fsm.initial(),
            action: Action::receive("b", "x", &["u8"]),
            transitions: [TransitionId::from_index(0), TransitionId::from_index(1)],
        }
    );
    assert_eq!(
        defect.to_string(),
        "state 0 has two transitions `b?x`; give the messages different labels, or join the two"
    );
}

#[test]
fn a_message_to_itself_is_refused() {
    let fsm = machine("a", &[(0, send("b", "x"), 1), (1, send("a", "x"), 0)]);
    let defect = fsm.check_directed().unwrap_err();
    assert_eq!(
        defect,
        Defect::SelfMessage {
            state: StateId::from_index(1),
            transition: TransitionId::from_index(1),
            role: "a".into(),
        }
    );
    assert_eq!(
        defect.to_string(),
        "in state 1 `a` exchanges a message with itself; name another role as its peer"
    );
}

#[test]
#[should_panic = "transition 7 is not of the machine of `a`"]
fn a_transition_of_another_machine_panics() {
    let _ = machine("a", &[]).transition(TransitionId::from_index(7));
}

#[test]
#[should_panic = "the initial state of `a` was not added to its builder"]
fn an_initial_state_of_another_machine_panics() {
    let _ = Fsm::builder("a").build(StateId::from_index(0));
}
