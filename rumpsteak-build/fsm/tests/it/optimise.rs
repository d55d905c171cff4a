//! Proposals: what the papers reorder by hand is found, what depends on a message stays behind it.

use rumpsteak_fsm::system::{System, explore};
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Action, Fsm, Limits, Role, Verdict, subtype};
use rumpsteak_optimise::cost::Work;
use rumpsteak_optimise::{
    Costs, Options, Proposals, anticipate, propose, propose_together, received_before,
};

const DOUBLE_BUFFERING: &str = "\
s: rec X . k?ready; k!value<i32>; X
k: rec X . s!ready; s?value<i32>; t?ready; t!value<i32>; X
t: rec X . k!ready; k?value<i32>; X";
const RING: &str = "\
a: rec X . b!value<i32>; c?value<i32>; X
b: rec X . a?value<i32>; c!value<i32>; X
c: rec X . b?value<i32>; a!value<i32>; X";
const STREAMING: &str = "\
s: rec X . t?ready; {t!value<i32>; X, t!stop; end}
t: rec X . s!ready; {s?value<i32>; X, s?stop; end}";

fn parse(text: &str) -> Vec<Fsm> {
    text::parse(text).unwrap()
}

fn print(fsm: &Fsm) -> String {
    text::print(Form::Local, std::slice::from_ref(fsm)).unwrap().trim_end().to_owned()
}

fn free(_: &Action, _: &Action) -> bool {
    false
}

/// A value is made from the value that was received.
fn values(send: &Action, receive: &Action) -> bool {
    [send, receive].map(|action| action.message.label.as_str()) == ["value", "value"]
}

const EQUAL: Costs<'static> = Costs { latency: &|_, _| 1, work: 1 };

fn proposals(
    machines: &[Fsm],
    role: &str,
    depends: fn(&Action, &Action) -> bool,
    window: usize,
) -> Proposals {
    let options = Options { window, ..Options::default() };
    let found = propose(machines, &Role::from(role), &depends, &EQUAL, &options).unwrap();
    // Each is proven, and safe with its peers.
    for proposal in &found.proposals {
        let position = machines.iter().position(|fsm| fsm.role().as_str() == role);
        let projection = &machines[position.unwrap()];
        let verdict = subtype::check(&proposal.fsm, projection, &Limits::default()).unwrap();
        assert!(verdict.is_safe());
        let mut system = machines.to_vec();
        system[position.unwrap()] = proposal.fsm.clone();
        let found = explore(&System::new(system).unwrap(), &Limits::default());
        assert!(matches!(found.verdict, Verdict::Safe(_)), "{:?}", found.verdict);
        assert_eq!(found.starvation, None);
    }
    found
}

/// A value is made from a value, and is sent once there is room for it.
fn values_on_demand(send: &Action, receive: &Action) -> bool {
    let [send, receive] = [send, receive].map(|action| action.message.label.as_str());
    send == "value" && ["value", "ready"].contains(&receive)
}

/// PPoPP'22: both buffers are filled from the start.
const KERNEL: &str = "k: s!ready; rec x . s!ready; s?value<i32>; t?ready; t!value<i32>; x";

#[test]
fn the_kernel_of_double_buffering() {
    let machines = parse(DOUBLE_BUFFERING);
    let found = proposals(&machines, "k", values_on_demand, 2);
    let best = &found.proposals[0];
    assert_eq!(print(&best.fsm), KERNEL);
    assert_eq!(best.windows, [(Role::from("s"), 1)]);
    assert!(best.time < found.time, "{found:?}");

    // A value need not wait for room unless the caller says so.
    let found = proposals(&machines, "k", values, 2);
    assert_eq!(
        print(&found.proposals[0].fsm),
        "k: s!ready; rec x . s!ready; s?value<i32>; t!value<i32>; t?ready; x"
    );
    let kernel = found.proposals.iter().find(|proposal| print(&proposal.fsm) == KERNEL);
    assert!(kernel.is_some(), "{found:?}");
}

#[test]
fn the_ring_sends_before_it_receives() {
    let machines = parse(RING);
    let found = proposals(&machines, "b", free, 1);
    let [only] = &found.proposals[..] else {
        panic!("{found:?}");
    };
    assert_eq!(print(&only.fsm), "b: rec x . c!value<i32>; a?value<i32>; x");
    assert!(only.time < found.time);
    // What is sent is made from what is received: nothing can be done.
    let found = proposals(&machines, "b", values, 4);
    assert_eq!(found.proposals.len(), 0);
    assert_eq!(found.candidates, 0);
}

#[test]
fn the_window_of_streaming() {
    let found = proposals(&parse(STREAMING), "s", free, 3);
    let windows: Vec<usize> =
        found.proposals.iter().map(|proposal| proposal.windows[0].1).collect();
    // Two values on their way fill the time of a round trip, which is six: two messages and four
    // actions.
    assert_eq!(windows, [2, 3, 1]);
    assert_eq!(found.proposals[0].time, found.proposals[1].time);
    let one = &found.proposals[2];
    assert_eq!(print(&one.fsm), "s: rec x . {t!value<i32>; t?ready; x, t!stop; t?ready; end}");
    assert!(one.time < found.time);
    assert!(found.proposals[0].time < one.time);
}

#[test]
fn a_send_behind_all_branches_comes_before_the_choice() {
    let machines = parse(
        "a: {b!x; end, b!y; end}
b: {a?x; c!z; end, a?y; c!z; end}
c: b?z; end",
    );
    let found = proposals(&machines, "b", free, 4);
    let [only] = &found.proposals[..] else {
        panic!("{found:?}");
    };
    assert_eq!(print(&only.fsm), "b: c!z; {a?x; end, a?y; end}");

    // A choice of one's own, where all branches of the peer's choice lead to it.
    let choice = "{c!w; end, c!z; end}";
    let machine = parse(&format!("b: {{a?x; {choice}, a?y; {choice}}}")).remove(0);
    let windows = [(Role::from("c"), 4)];
    let moved = anticipate(&machine, &windows, &free, 100).unwrap();
    assert_eq!(print(&moved), "b: {c!w; {a?x; end, a?y; end}, c!z; {a?x; end, a?y; end}}");
    assert!(subtype::check(&moved, &machine, &Limits::default()).unwrap().is_safe());

    // Another message, or none, on one branch: it must wait.
    for other in ["c!w; end", "end", "{c!w; end, c!z; end}"] {
        let text = format!("b: {{a?x; c!z; end, a?y; {other}}}");
        let machine = parse(&text).remove(0);
        let windows = [(Role::from("c"), 4)];
        assert_eq!(print(&anticipate(&machine, &windows, &free, 100).unwrap()), print(&machine));
    }
}

#[test]
fn limits_are_kept() {
    let machine = parse("b: rec X . a?value; c!value; X").remove(0);
    let windows = [(Role::from("c"), 50)];
    assert_eq!(anticipate(&machine, &windows, &free, 20), None);
    assert!(anticipate(&machine, &windows, &free, 200).is_some());
    let machines = parse(RING);
    let options = Options { candidates: 2, ..Options::default() };
    let found = propose(&machines, &Role::from("b"), &free, &EQUAL, &options).unwrap();
    assert_eq!((found.candidates, found.cut), (2, true));
    let peers = parse("b: {a?x; c!z; end, c?y; end}");
    let error = propose(&peers, &Role::from("b"), &free, &EQUAL, &options).unwrap_err();
    assert!(error.to_string().contains("the supertype is not a local type"));
    let found = propose(&machines, &Role::from("nobody"), &free, &EQUAL, &options).unwrap();
    assert_eq!(found.proposals.len(), 0);
}

#[test]
fn time_is_that_of_the_critical_path() {
    // A round is two messages and four actions, one after the other.
    let machines = parse(
        "a: b!x; b?y; end
b: a?x; a!y; end",
    );
    let work = Work::new(&machines);
    assert_eq!(work.time(&machines, &EQUAL), 6);
    let slow = Costs { latency: &|from, _| if from.as_str() == "a" { 10 } else { 1 }, work: 0 };
    assert_eq!(work.time(&machines, &slow), 11);
    let events = work.events(&machines, &slow, 10);
    let times: Vec<(u64, String)> = events
        .iter()
        .map(|event| (event.time, format!("{}: {}", event.role, event.action)))
        .collect();
    assert_eq!(
        times,
        [
            (0, "a: b!x".to_owned()),
            (10, "b: a?x".to_owned()),
            (10, "b: a!y".to_owned()),
            (11, "a: b?y".to_owned()),
        ]
    );
}

#[test]
fn all_roles_together() {
    let machines = parse(RING);
    let options = Options { window: 1, ..Options::default() };
    let depends = |_: usize, _: &Action, _: &Action| false;
    let found = propose_together(&machines, &depends, &EQUAL, &options).unwrap();
    let printed: Vec<Option<String>> = found
        .proposals
        .iter()
        .map(|proposal| proposal.as_ref().map(|proposal| print(&proposal.fsm)))
        .collect();
    // `a` may send a second value before the first one has come round.
    assert_eq!(
        printed[1..],
        [
            Some("b: rec x . c!value<i32>; a?value<i32>; x".to_owned()),
            Some("c: rec x . a!value<i32>; b?value<i32>; x".to_owned()),
        ]
    );
    assert!(found.after < found.before, "{found:?}");
    assert!(found.after < proposals(&machines, "b", free, 1).proposals[0].time);
    let system: Vec<Fsm> = machines
        .iter()
        .zip(&found.proposals)
        .map(|(own, proposal)| proposal.as_ref().map_or(own, |found| &found.fsm).clone())
        .collect();
    let found = explore(&System::new(system).unwrap(), &Limits::default());
    assert!(matches!(found.verdict, Verdict::Safe(_)));
}

#[test]
fn what_came_before_goes_by_rounds() {
    let before = |text: &str| -> Vec<String> {
        let machine = parse(text).remove(0);
        let show = |id| machine.transition(id).action.to_string();
        let of_send = received_before(&machine).into_iter().map(|(send, before)| {
            let mut before: Vec<String> = before.into_iter().map(show).collect();
            before.sort();
            format!("{}: {}", show(send), before.join(" "))
        });
        of_send.collect()
    };
    assert_eq!(
        before("k: rec X . s!ready; s?value; t?ready; t!value; X"),
        ["s!ready: ", "t!value: s?value t?ready"]
    );
    // A loop that a send is behind has had all its rounds; one around it has not.
    assert_eq!(before("b: rec X . {a?item; X, a?done; c!sum; end}"), ["c!sum: a?done a?item"]);
    assert_eq!(
        before("b: rec X . c!first; rec Y . {a?item; Y, a?done; c!sum; X}"),
        ["c!first: ", "c!sum: a?done a?item"]
    );
    // Whatever comes before the first round, and in each branch.
    assert_eq!(before("b: a?open; rec X . {a?x; X, a?y; c!z; X}"), ["c!z: a?open a?y"],);
    assert_eq!(before("b: {a?x; c!z; end, a?y; c!z; end}"), ["c!z: a?x", "c!z: a?y"]);
}

#[test]
fn a_long_way_before_a_send_does_not_overflow_the_stack() {
    let mut builder = Fsm::builder("b");
    let mut at = builder.add_state();
    let first = at;
    for _ in 0..100_000 {
        let next = builder.add_state();
        builder.add_transition(at, Action::receive("a", "x", &[]), next);
        at = next;
    }
    builder.add_transition(at, Action::send("a", "y", &[]), first);
    let before = received_before(&builder.build(first));
    assert_eq!(before.iter().map(|(_, before)| before.len()).collect::<Vec<_>>(), [100_000]);
}
