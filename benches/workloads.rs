//! What the verifier is measured on: the workloads of PPoPP'22, Fig. 7 and Table 1, and beyond.
//!
//! Each is a pair of machines, the subtype and its supertype, and where the paper compares with
//! k-MC also the machines of all roles.

use rumpsteak_fsm::{Action, Direction, Fsm, Limits, StateId};

/// Enough for 1,000 actions that are done early, and for trees of 100,000 states.
#[must_use]
pub fn limits() -> Limits {
    Limits::default().anticipation(10_000).steps(50_000_000).configurations(10_000_000)
}

/// A reception without payload.
#[must_use]
pub fn receive(peer: &str, label: &str) -> Action {
    Action::receive(peer, label, &[])
}

/// A send without payload.
#[must_use]
pub fn send(peer: &str, label: &str) -> Action {
    Action::send(peer, label, &[])
}

/// A machine that does `first`, and then `again` for ever.
#[must_use]
pub fn lasso(role: &str, first: &[Action], again: &[Action]) -> Fsm {
    let mut builder = Fsm::builder(role);
    let states: Vec<StateId> =
        (0..first.len() + again.len()).map(|_| builder.add_state()).collect();
    for (index, action) in first.iter().chain(again).enumerate() {
        let next = states.get(index + 1).unwrap_or(&states[first.len()]);
        builder.add_transition(states[index], action.clone(), *next);
    }
    builder.build(states[0])
}

/// The source of `rec x. t?ready. t!{value. x, stop}`, which sends `ahead` values before it is
/// asked for them.
#[must_use]
pub fn source(ahead: usize) -> Fsm {
    let mut builder = Fsm::builder("s");
    let states: Vec<StateId> = (0..=ahead).map(|_| builder.add_state()).collect();
    for pair in states.windows(2) {
        builder.add_transition(pair[0], send("t", "value"), pair[1]);
    }
    let (asked, mut stopped) = (builder.add_state(), builder.add_state());
    builder.add_transition(states[ahead], receive("t", "ready"), asked);
    builder.add_transition(asked, send("t", "value"), states[ahead]);
    builder.add_transition(asked, send("t", "stop"), stopped);
    for _ in 0..ahead {
        let next = builder.add_state();
        builder.add_transition(stopped, receive("t", "ready"), next);
        stopped = next;
    }
    builder.build(states[0])
}

/// The kernel of double buffering, which asks the source for `ahead` values more than it is asked
/// for itself: the projection for 0.
#[must_use]
pub fn kernel(ahead: usize) -> Fsm {
    lasso(
        "k",
        &vec![send("s", "ready"); ahead],
        &[send("s", "ready"), receive("s", "value"), receive("t", "ready"), send("t", "value")],
    )
}

/// Role `index` of a ring of `count`, which receives first or sends first.
#[must_use]
pub fn ring(index: usize, count: usize, sends_first: bool) -> Fsm {
    let before = format!("r{}", (index + count - 1) % count);
    let after = format!("r{}", (index + 1) % count);
    let mut actions = [receive(&before, "v"), send(&after, "v")];
    if sends_first {
        actions.reverse();
    }
    lasso(&format!("r{index}"), &[], &actions)
}

/// T_n or T'_n, by what is done in two steps; as a tree, or with one state for all equal subtrees.
#[must_use]
pub fn nested(depth: usize, tree: bool, sub: bool) -> Fsm {
    // What is done first, what may follow, each leading to the next level.
    let level: &[(Action, &[&str])] = match sub {
        true => &[(send("b", "m"), &["r", "s", "u"]), (send("b", "p"), &["r", "s"])],
        false => &[(receive("b", "r"), &["m", "p", "q"]), (receive("b", "s"), &["m", "p"])],
    };
    let mut builder = Fsm::builder("a");
    let initial = builder.add_state();
    let mut states = vec![initial];
    for _ in 0..depth {
        let mut next = vec![];
        let shared = builder.add_state();
        for state in states {
            for (first, then) in level {
                let middle = builder.add_state();
                builder.add_transition(state, first.clone(), middle);
                for &label in *then {
                    let end = if tree { builder.add_state() } else { shared };
                    if tree {
                        next.push(end);
                    }
                    let action = if sub { receive("b", label) } else { send("b", label) };
                    builder.add_transition(middle, action, end);
                }
            }
        }
        states = if tree { next } else { vec![shared] };
    }
    builder.build(initial)
}

/// The machines of streaming: the source, which sends `ahead` values before it is asked, and the
/// sink as projected.
#[must_use]
pub fn streaming_roles(ahead: usize) -> Vec<Fsm> {
    vec![source(ahead), dual(&source(0), "t")]
}

/// The machines of k-buffering: the kernel, which asks for `ahead` values more, and source and sink
/// as projected.
#[must_use]
pub fn buffering_roles(ahead: usize) -> Vec<Fsm> {
    vec![
        kernel(ahead),
        lasso("s", &[], &[receive("k", "ready"), send("k", "value")]),
        lasso("t", &[], &[send("k", "ready"), receive("k", "value")]),
    ]
}

/// The machines of a ring. The first role sends first, and all others do too if
/// `optimised`.
#[must_use]
pub fn ring_roles(count: usize, optimised: bool) -> Vec<Fsm> {
    (0..count).map(|index| ring(index, count, optimised || index == 0)).collect()
}

/// The machines of nested choice: T_n and the dual of T'_n.
#[must_use]
pub fn nested_roles(depth: usize, tree: bool) -> Vec<Fsm> {
    let other = dual(&nested(depth, tree, false), "b");
    vec![nested(depth, tree, true), other]
}

/// The machine of the other role of two.
#[must_use]
pub fn dual(machine: &Fsm, role: &str) -> Fsm {
    let mut builder = Fsm::builder(role);
    let states: Vec<StateId> = machine.states().map(|_| builder.add_state()).collect();
    for transition in machine.transitions() {
        let mut action = transition.action.clone();
        action.peer = machine.role().clone();
        action.direction = match action.direction {
            Direction::Send => Direction::Receive,
            Direction::Receive => Direction::Send,
        };
        let (from, to) = (transition.source, transition.target);
        builder.add_transition(states[from.index()], action, states[to.index()]);
    }
    builder.build(states[machine.initial().index()])
}

/// The supertype of the Hospital of Table 1, after the shape of LMCS'21, §1: two reports on
/// patients come in for each answer that goes out, and the answers that are still due follow when
/// the reports end.
#[must_use]
pub fn hospital() -> Fsm {
    machine(
        "hospital",
        &[
            (0, receive("p", "data"), 1),
            (0, receive("p", "done"), 2),
            (1, receive("p", "data"), 3),
            (1, receive("p", "done"), 2),
            (3, send("p", "ok"), 0),
            (2, send("p", "ok"), 2),
            (2, send("p", "bye"), 4),
        ],
    )
}

/// The subtype: it answers each report at once, so that more and more reports are pending for ever.
#[must_use]
pub fn eager_hospital() -> Fsm {
    machine(
        "hospital",
        &[
            (0, receive("p", "data"), 1),
            (1, send("p", "ok"), 0),
            (0, receive("p", "done"), 2),
            (2, send("p", "bye"), 3),
        ],
    )
}

/// The supertype of CONCUR'19, §1: the client of a video service, which asks for high or for low
/// quality and is told whether that works out.
#[must_use]
pub fn client() -> Fsm {
    machine(
        "client",
        &[
            (0, send("s", "hq"), 1),
            (0, send("s", "lq"), 1),
            (1, receive("s", "ok"), 0),
            (1, receive("s", "ko"), 0),
        ],
    )
}

/// The subtype: it asks for high quality first, and where that fails, for low quality without
/// waiting for the answer; so answers pile up.
#[must_use]
pub fn eager_client() -> Fsm {
    machine(
        "client",
        &[
            (0, send("s", "hq"), 1),
            (1, receive("s", "ok"), 0),
            (1, receive("s", "ko"), 2),
            (2, send("s", "lq"), 0),
        ],
    )
}

/// A machine by its transitions, from state 0.
fn machine(role: &str, transitions: &[(usize, Action, usize)]) -> Fsm {
    let mut builder = Fsm::builder(role);
    let last = transitions.iter().map(|&(from, _, to)| from.max(to)).max();
    let states: Vec<StateId> = (0..=last.unwrap_or(0)).map(|_| builder.add_state()).collect();
    for (from, action, to) in transitions {
        builder.add_transition(states[*from], action.clone(), states[*to]);
    }
    builder.build(states[0])
}

/// Pairs of roles that each send `messages` to the other, and then receive as many, for ever:
/// `kmc/large/8peers-20msg-k20` of the corpora has this form. Each queue holds `messages` at least,
/// so that is the least k.
#[must_use]
pub fn pairs(count: usize, messages: usize) -> Vec<Fsm> {
    let role = |own: String, other: String, says: &str, hears: &str| {
        let mut actions = vec![send(&other, says); messages];
        actions.extend(vec![receive(&other, hears); messages]);
        lasso(&own, &[], &actions)
    };
    (0..count)
        .flat_map(|pair| {
            let (left, right) = (format!("l{pair}"), format!("r{pair}"));
            [role(left.clone(), right.clone(), "a", "b"), role(right, left, "b", "a")]
        })
        .collect()
}
