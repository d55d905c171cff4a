//! Asynchronous subtyping.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "an unwrap in a test is an assertion"
)]

mod common;

use rumpsteak_fsm::{
    Action, Fsm, Limit, Limits, StateId, TransitionId, Verdict, certificate, dot,
    subtype::{self, Proof, Refusal, Side},
    text,
};
use rumpsteak_oracle::{
    cases::{self, Relation},
    corpus, local,
};

/// The answer in the words of the corpora.
fn answer(sub: &Fsm, sup: &Fsm) -> &'static str {
    match subtype::check(sub, sup, &Limits::default()) {
        Err(_) => "bad-input",
        Ok(Verdict::Safe(_)) => "sub",
        Ok(Verdict::Unsafe(_)) => "not",
        Ok(Verdict::Undecided(_)) => "undecided",
    }
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_pairs_of_the_corpus() {
    let pairs = corpus("pairs");
    let expected = std::fs::read_to_string(pairs.join("expected.csv")).unwrap();
    let read = |name: String| -> Fsm {
        dot::parse(&std::fs::read_to_string(pairs.join(name)).unwrap())
            .unwrap()
            .remove(0)
    };
    for line in expected.lines().skip(1) {
        let (name, expected) = line.split_once(',').unwrap();
        let answer = answer(
            &read(format!("{name}.sub.dot")),
            &read(format!("{name}.sup.dot")),
        );
        // Whether a third role starves is not subtyping's to say.
        let expected = expected.trim_end_matches("-starves");
        assert!(
            expected.split("-or-").any(|allowed| allowed == answer),
            "{name}: {answer}"
        );
    }
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_binary_corpus() {
    let folder = corpus("binary");
    let expected = std::fs::read_to_string(folder.join("expected.csv")).unwrap();
    let read = |name: &str| -> Fsm {
        text::parse(&std::fs::read_to_string(folder.join(name)).unwrap())
            .unwrap()
            .remove(0)
    };
    let (mut decided, mut undecided) = (0, vec![]);
    for line in expected.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        match answer(&read(fields[0]), &read(fields[1])) {
            "undecided" => undecided.push(fields[0]),
            answer => {
                assert_eq!(fields[2] == "sub", answer == "sub", "{line}");
                decided += 1;
            }
        }
    }
    assert_eq!((decided, undecided), (94, vec![]));
}

const KERNEL: &str = "k: 0 s!ready 1, 1 s?value(i32) 2, 2 t?ready 3, 3 t!value(i32) 0";

/// The proof, whose certificate is valid.
#[track_caller]
fn accepted(sub: &str, sup: &str) -> Proof {
    let proof = match check(sub, sup) {
        Verdict::Safe(proof) => proof,
        other => panic!("{other:?}"),
    };
    let (sub, sup) = (common::machine(sub), common::machine(sup));
    let valid = certificate::check(&proof.certificate(), &sub, &sup);
    assert_eq!(valid, Ok(()));
    proof
}

/// The refusal, as `rule: sub (after path) / sup`.
#[track_caller]
fn refused(sub: &str, sup: &str) -> String {
    let (sub, sup) = (common::machine(sub), common::machine(sup));
    let verdict = subtype::check(&sub, &sup, &Limits::default()).unwrap();
    let refusal = verdict.refusal().unwrap_or_else(|| panic!("{verdict:?}"));
    let name = |fsm: &Fsm, id: Option<TransitionId>, state: StateId| match id {
        Some(id) => {
            assert_eq!(fsm.transition(id).source, state);
            fsm.transition(id).action.to_string()
        }
        None => format!("state {state}"),
    };
    // The path is one.
    let mut state = sub.initial();
    for &id in &refusal.path {
        assert_eq!(sub.transition(id).source, state);
        state = sub.transition(id).target;
    }
    assert_eq!(state, refusal.sub_state);
    for pair in refusal.cycle.windows(2) {
        assert_eq!(
            sub.transition(pair[0]).target,
            sub.transition(pair[1]).source
        );
    }
    if let (Some(&first), Some(&last)) = (refusal.cycle.first(), refusal.cycle.last()) {
        assert_eq!(sub.transition(last).target, sub.transition(first).source);
    }
    let actions = |ids: &[TransitionId]| {
        let actions: Vec<_> = ids
            .iter()
            .map(|&id| sub.transition(id).action.to_string())
            .collect();
        actions.join(" ")
    };
    let mut text = format!(
        "{:?}: {} / {}",
        refusal.rule,
        name(&sub, refusal.sub, refusal.sub_state),
        name(&sup, refusal.sup, refusal.sup_state)
    );
    if !refusal.path.is_empty() {
        text.push_str(&format!(" after {}", actions(&refusal.path)));
    }
    if !refusal.cycle.is_empty() {
        text.push_str(&format!(" in {}", actions(&refusal.cycle)));
    }
    text
}

fn check(sub: &str, sup: &str) -> Verdict<Proof, Refusal> {
    subtype::check(
        &common::machine(sub),
        &common::machine(sup),
        &Limits::default(),
    )
    .unwrap()
}

#[test]
fn double_buffering_may_ask_ahead() {
    let ahead = "k: 4 s!ready 0, 0 s!ready 1, 1 s?value(i32) 2, 2 t?ready 3, 3 t!value(i32) 0";
    // State 0 is the initial one in these lines, so the loop starts in state 1.
    let ahead = ahead.replace('0', "9").replace('4', "0").replace('9', "4");
    assert_eq!(accepted(&ahead, KERNEL).anticipation, Some(3));
    assert_eq!(accepted(KERNEL, KERNEL).anticipation, Some(0));
    assert_eq!(
        refused(KERNEL, &ahead),
        "InputBeforeOutput: s?value(i32) / s!ready after s!ready"
    );
}

#[test]
fn a_receive_may_not_overtake_a_send() {
    assert_eq!(
        refused(
            "k: 0 t?ready 1, 1 s!ready 2, 2 s?value(i32) 3, 3 t!value(i32) 0",
            KERNEL
        ),
        "InputBeforeOutput: t?ready / s!ready"
    );
    // Not even one that is pending behind receives.
    assert_eq!(
        refused(
            "a: 0 d!w 1, 1 c?y 2, 2 b!x 3, 3 b?z 4",
            "a: 0 b?z 1, 1 b!x 2, 2 c?y 3, 3 d!w 4"
        ),
        "InputBeforeOutput: c?y / b!x after d!w"
    );
    // Nor an open choice.
    assert_eq!(
        refused(
            "a: 0 c!x 1, 1 d?y 2, 2 b!l 3, 2 b!r 3",
            "a: 0 b!l 1, 0 b!r 1, 1 c!x 2, 2 d?y 3"
        ),
        "InputBeforeOutput: d?y / b!l after c!x"
    );
}

#[test]
fn a_receive_may_overtake_receives_from_others() {
    accepted("a: 0 c?y 1, 1 b?x 2", "a: 0 b?x 1, 1 c?y 2");
    // Also with branches on both sides, which the paper's algorithm must guess.
    let sub = "a: 0 c?y 1, 0 c?n 2, 1 b?l 3, 1 b?r 4, 2 b?l 4, 2 b?r 3, 3 b!o 5, 4 b!u 5";
    let sup = "a: 0 b?l 1, 0 b?r 2, 1 c?y 3, 1 c?n 4, 2 c?y 4, 2 c?n 3, 3 b!o 5, 4 b!u 5";
    accepted(sub, sup);
    accepted(sup, sub);
    assert_eq!(
        refused(&sub.replace("3 b!o 5, 4 b!u 5", "3 b!u 5, 4 b!o 5"), sup),
        "OutputNotOffered: b!u / b!o after c?y b?l"
    );
    assert_eq!(
        refused(
            "a: 0 c?y 1, 1 b?l 2, 1 b?r 2",
            "a: 0 b?l 1, 0 b?r 2, 1 c?y 2"
        ),
        "InputNotReached: c?y / state 2"
    );
    assert_eq!(
        refused("a: 0 c?y 1, 1 b?x 1", "a: 0 b?x 0, 0 b?z 1, 1 c?y 2"),
        "InputNotReached: c?y / b?x"
    );
}

#[test]
fn messages_between_the_same_two_roles_keep_their_order() {
    assert_eq!(
        refused("a: 0 b!y 1, 1 b!x 2", "a: 0 b!x 1, 1 b!y 2"),
        "OutputsToOnePeer: b!y / b!x"
    );
    assert_eq!(
        refused("a: 0 b?y 1, 1 b?x 2", "a: 0 b?x 1, 1 b?y 2"),
        "InputsFromOnePeer: b?y / b?x"
    );
    // Also over what is pending.
    assert_eq!(
        refused(
            "a: 0 c!z 1, 1 b!y 2, 2 b!x 3",
            "a: 0 b!x 1, 1 b!y 2, 2 c!z 3"
        ),
        "OutputsToOnePeer: b!y / b!x after c!z"
    );
    assert_eq!(
        refused(
            "a: 0 c!z 1, 1 b?y 2, 2 b?x 3",
            "a: 0 b?x 1, 1 b?y 2, 2 c!z 3"
        ),
        "InputsFromOnePeer: b?y / b?x after c!z"
    );
}

#[test]
fn choices_may_be_narrowed_and_offers_widened() {
    accepted("a: 0 b!x 1", "a: 0 b!x 1, 0 b!y 1");
    accepted("a: 0 b?x 1, 0 b?y 1", "a: 0 b?x 1");
    assert_eq!(
        refused("a: 0 b!x 1, 0 b!y 1", "a: 0 b!x 1"),
        "OutputNotOffered: b!y / b!x"
    );
    assert_eq!(
        refused("a: 0 b?x 1", "a: 0 b?x 1, 0 b?y 1"),
        "InputNotHandled: state 0 / b?y"
    );
    assert_eq!(refused("a:", "a: 0 b?y 1"), "Forgotten: state 0 / b?y");
    assert_eq!(
        refused("a: 0 b!y 1", "a:"),
        "OutputNotReached: b!y / state 0"
    );
    assert_eq!(
        refused("a: 0 b?y 1", "a:"),
        "InputNotReached: b?y / state 0"
    );
}

#[test]
fn payloads_are_compared_by_their_sorts() {
    accepted("a: 0 b!x(a: i32) 1", "a: 0 b!x(b: i32) 1");
    assert_eq!(
        refused("a: 0 b!x(i32) 1", "a: 0 b!x(u32) 1"),
        "PayloadDiffers: b!x(i32) / b!x(u32)"
    );
    assert_eq!(
        refused("a: 0 b?x(i32) 1", "a: 0 b?x 1"),
        "PayloadDiffers: b?x(i32) / b?x"
    );
    assert_eq!(
        refused("a: 0 b!y(i32) 1", "a: 0 b!x 1, 0 b!y 1"),
        "PayloadDiffers: b!y(i32) / b!y"
    );
}

#[test]
fn a_send_may_overtake_only_what_leads_to_it() {
    let sup = "a: 0 b?l 1, 0 b?r 2, 1 c!x 3, 2 c!x 4";
    accepted("a: 0 c!x 1, 1 b?l 2, 1 b?r 2", sup);
    assert_eq!(
        refused(
            "a: 0 c!x 1, 1 b?l 2, 1 b?r 2",
            "a: 0 b?l 1, 0 b?r 2, 1 c!x 3"
        ),
        "OutputNotReached: c!x / state 2"
    );
    assert_eq!(
        refused("a: 0 c!x 1, 1 b?l 1", "a: 0 b?l 0, 0 b?r 1, 1 c!x 2"),
        "OutputNotReached: c!x / b?l"
    );
    // Another label may be sent in one of the branches.
    assert_eq!(
        refused(
            "a: 0 c!x 1, 1 b?l 2, 1 b?r 2",
            "a: 0 b?l 1, 0 b?r 2, 1 c!x 3, 2 c!y 4"
        ),
        "OutputNotOffered: c!x / c!y"
    );
}

#[test]
fn choices_that_are_overtaken_stay_open() {
    // The paper's algorithm must guess `l` or `r` when c!x is sent, and is wrong either way.
    let sup = "a: 0 b!l 1, 0 b!r 2, 1 c!x 3, 2 c!x 4, 3 d!o 5, 4 d!u 5";
    accepted("a: 0 c!x 1, 1 b!l 2, 1 b!r 3, 2 d!o 4, 3 d!u 4", sup);
    // Even what follows the choice may come first, as long as it is the same.
    let both = "a: 0 b!l 1, 0 b!r 2, 1 c!x 3, 2 c!x 4, 3 d!o 5, 4 d!o 5";
    accepted("a: 0 d!o 1, 1 c!x 2, 2 b!l 3, 2 b!r 3", both);
    assert_eq!(
        refused("a: 0 c!x 1, 1 b!l 2, 1 b!r 3, 2 d!u 4, 3 d!o 4", sup),
        "OutputNotOffered: d!u / d!o after c!x b!l"
    );
    // The choice decides what d gets, so d's message decides the choice.
    accepted("a: 0 d!u 1, 1 c!x 2, 2 b!r 3", sup);
    assert_eq!(
        refused("a: 0 d!u 1, 1 c!x 2, 2 b!l 3", sup),
        "OutputNotOffered: d!u / d!o"
    );
    // Peers decide inside the alternatives, each for itself.
    let sup = "a: 0 b!l 1, 0 b!r 2, 1 e?p 3, 1 e?q 4, 2 e?p 5, 2 e?q 6, 3 c!x 7, 4 c!x 8, 5 c!x 8, 6 c!x 7, 7 d!o 9, 8 d!u 9";
    accepted(
        "a: 0 c!x 1, 1 b!l 2, 1 b!r 3, 2 e?p 4, 2 e?q 5, 3 e?p 5, 3 e?q 4, 4 d!o 6, 5 d!u 6",
        sup,
    );
    assert_eq!(
        refused(
            "a: 0 c!x 1, 1 b!l 2, 1 b!r 2, 2 e?p 4, 2 e?q 5, 4 d!o 6, 5 d!u 6",
            sup
        ),
        "OutputNotOffered: d!o / d!u after c!x b!r e?p"
    );
}

#[test]
fn what_is_never_chosen_is_not_waited_for() {
    // c!t is due only after b!b, which the subtype never sends.
    assert_eq!(
        refused("a: 0 b!a 1, 1 c!t 0", "a: 0 b!a 0, 0 b!b 1, 1 c!t 0"),
        "OutputNotReached: c!t / b!a after b!a"
    );
}

#[test]
fn an_open_choice_in_a_loop_is_followed_as_far_as_it_takes() {
    // c!x comes before any number of b!l; three rounds of the loop are passed over.
    let sup = "a: 0 b!l 0, 0 b!r 1, 1 c!x 2";
    accepted("a: 0 c!x 1, 1 b!r 2", sup);
    accepted("a: 0 c!x 1, 1 b!l 2, 2 b!r 3", sup);
    accepted("a: 0 c!x 1, 1 b!l 2, 2 b!l 3, 3 b!l 4, 4 b!r 5", sup);
    // Any number of rounds is no subtype (it may never come to an end), but that is not found out.
    assert_eq!(
        check("a: 0 c!x 1, 1 b!l 1, 1 b!r 2", sup),
        Verdict::Undecided(Limit::Branching(8))
    );
}

#[test]
fn nothing_may_be_forgotten() {
    assert_eq!(
        refused("a: 0 b!x 1", "a: 0 b?y 1, 1 b!x 2"),
        "Forgotten: state 1 / b?y after b!x"
    );
    assert_eq!(
        refused("a: 0 b!a 0", "a: 0 c?b 1, 1 b!a 0"),
        "Forgotten: state 0 / c?b after b!a in b!a"
    );
    // PPoPP'22, App. B.2: the first message is never taken.
    assert_eq!(
        refused("a: 0 p?l 0", "a: 0 q?m 1, 1 p?l 1"),
        "Forgotten: state 0 / q?m after p?l in p?l"
    );
    // It is taken in one of two loops only.
    let sup = "a: 0 q?m 1, 1 p?l 1, 1 p?k 2, 2 q?m 1";
    assert_eq!(
        refused("a: 0 p?l 0, 0 p?k 1, 1 q?m 0", sup),
        "Forgotten: state 0 / q?m after p?l in p?l"
    );
    // It is done in every round of two loops that share a state.
    accepted(
        "a: 0 p?l 1, 0 p?k 2, 1 q?m 0, 2 q?m 0",
        "a: 0 q?m 1, 1 p?l 2, 1 p?k 2, 2 q?m 1",
    );
    // So is a choice that is never made.
    assert_eq!(
        refused("a: 0 c!x 0", "a: 0 b!l 1, 0 b!r 1, 1 c!x 0"),
        "OutputNotReached: c!x / state 0"
    );
    // And what is avoided by choice, or put off for ever however the peers choose.
    assert_eq!(
        refused(
            "a: 0 b!l 1, 0 b!r 2, 1 c?y 0, 2 d?z 0",
            "a: 0 d?z 1, 1 b!l 2, 1 b!r 2, 2 c?y 0"
        ),
        "Forgotten: state 0 / d?z after b!l c?y in b!l c?y"
    );
    assert_eq!(
        refused("k: 0 s!ready 1, 1 s?value(i32) 2, 2 t!value(i32) 0", KERNEL),
        "Forgotten: state 0 / t?ready after s!ready s?value(i32) t!value(i32) in s!ready s?value(i32) t!value(i32)"
    );
}

#[test]
fn anticipation_without_bound_is_undecided() {
    // As long as q says `go`, what p has to say is put off.
    let (sub, sup) = (
        common::machine("a: 0 q?go 0, 0 q?stop 1, 1 p?ok 1, 1 p?end 2"),
        common::machine("a: 0 q?go 1, 1 p?ok 0, 0 q?stop 2, 2 p?end 3"),
    );
    let limits = Limits::default().anticipation(5);
    let verdict = subtype::check(&sub, &sup, &limits).unwrap();
    assert_eq!(verdict, Verdict::Undecided(Limit::Anticipation(5)));
    assert_eq!(
        Limit::Anticipation(5).to_string(),
        "more than 5 actions would be pending (limit `anticipation`)"
    );
    let limits = Limits::default().steps(3);
    let kernel = common::machine(KERNEL);
    let verdict = subtype::check(&kernel, &kernel, &limits).unwrap();
    assert_eq!(verdict, Verdict::Undecided(Limit::Steps(3)));
}

#[test]
fn machines_that_are_no_local_types_are_refused() {
    let mixed = common::machine("a: 0 b!x 1, 0 b?y 1");
    let fine = common::machine("a: 0 b!x 1");
    let error = subtype::check(&mixed, &fine, &Limits::default()).unwrap_err();
    assert_eq!(error.side, Side::Sub);
    let error = subtype::check(&fine, &mixed, &Limits::default()).unwrap_err();
    assert_eq!(error.side, Side::Sup);
    assert_eq!(
        error.to_string(),
        "the supertype is no local type: state 0 both sends and receives; \
         let it do one first and the other in a state of its own"
    );
}

/// A chain of `length` actions of `text`, in which `#` is the number of the step, closed to a loop.
fn chain(length: usize, text: impl Fn(usize) -> Action) -> Fsm {
    let mut builder = Fsm::builder("a");
    let states: Vec<_> = (0..length).map(|_| builder.add_state()).collect();
    for (index, &state) in states.iter().enumerate() {
        builder.add_transition(state, text(index), states[(index + 1) % length]);
    }
    builder.build(states[0])
}

#[test]
fn large_machines_neither_overflow_the_stack_nor_take_long() {
    let limits = Limits::default().anticipation(1_000_000);
    let receive = |peer: &'static str| move |_| Action::receive(peer, "x", &[]);
    let long = chain(100_000, receive("b"));
    assert!(subtype::check(&long, &long, &limits).unwrap().is_safe());
    assert!(
        subtype::check(&long, &chain(3, receive("b")), &limits)
            .unwrap()
            .is_safe()
    );

    // The first action of the subtype is the last of the supertype.
    let sup = chain(100_000, |index| match index {
        99_999 => Action::send("c", "y", &[]),
        _ => Action::receive("b", "x", &[]),
    });
    let sub = chain(100_000, |index| match index {
        0 => Action::send("c", "y", &[]),
        _ => Action::receive("b", "x", &[]),
    });
    assert!(subtype::check(&sub, &sup, &limits).unwrap().is_safe());

    // A supertype of 2,000 choices of receives, each of which leads to the next, is passed over at once.
    let mut builder = Fsm::builder("a");
    let states: Vec<_> = (0..2_001).map(|_| builder.add_state()).collect();
    for pair in states.windows(2) {
        for label in ["l", "r"] {
            builder.add_transition(pair[0], Action::receive("b", label, &[]), pair[1]);
        }
    }
    builder.add_transition(states[2_000], Action::send("c", "y", &[]), states[0]);
    let sup = builder.build(states[0]);
    let verdict = subtype::check(&sub, &sup, &limits).unwrap();
    assert_eq!(verdict, Verdict::Undecided(Limit::Branching(256)));
}

#[test]
fn the_oracle_s_table() {
    for case in cases::CASES {
        let machine = |text| local(case.role, text).unwrap();
        let (sub, sup) = (machine(case.sub), machine(case.sup));
        let verdict = subtype::check(&sub, &sup, &Limits::default()).unwrap();
        let fits = match case.relation {
            Relation::Subtype => verdict.is_safe(),
            Relation::NotSubtype => verdict.refusal().is_some(),
            Relation::Unbounded => verdict.refusal().is_none(),
        };
        assert!(fits, "{}: {verdict:?}", case.name);
    }
}

/// Cases that tell the rules of the search from what they would be with one comparison, operator or statement wrong; in local types of role m.
#[test]
fn each_rule_counts() {
    let machine = |source: &str| text::parse(&format!("m: {source}")).unwrap().remove(0);
    let cases = [
        // A send on the spine is not overtaken by a receive that is still behind it.
        ("r!z; p?x; q!y; end", "q!y; r!z; p?x; end", "not"),
        ("r!z; q!y; p?x; end", "q!y; r!z; p?x; end", "sub"),
        // What is overtaken stays to be done.
        ("r!z; q!y; end", "q!y; r!z; p?x; end", "not"),
        // In the alternatives of an open choice, too: p!x comes with q!a only …
        (
            "s!k; p!x; q!a; end",
            "{q!a; p!x; s!k; end, q!b; p!y; s!k; end}",
            "sub",
        ),
        (
            "s!k; p!x; q!b; end",
            "{q!a; p!x; s!k; end, q!b; p!y; s!k; end}",
            "not",
        ),
        // … and what was passed over twice is still there.
        (
            "s!k; r!z; q!a; p!x; end",
            "{q!a; p!x; s!k; r!z; end, q!b; p!x; s!k; r!z; end}",
            "sub",
        ),
        (
            "s!k; r!z; q!a; end",
            "{q!a; p!x; s!k; r!z; end, q!b; p!x; s!k; r!z; end}",
            "not",
        ),
        // The same where both alternatives are still open, because the subtype may choose either.
        (
            "s!k; p!x; {q!a; end, q!b; end}",
            "{q!a; p!x; s!k; end, q!b; p!y; s!k; end}",
            "not",
        ),
        (
            "s!k; p!x; {q!a; end, q!b; end}",
            "{q!a; p!x; s!k; end, q!b; p!x; s!k; end}",
            "sub",
        ),
        (
            "s!k; r!z; {q!a; p!x; end, q!b; p!x; end}",
            "{q!a; p!x; s!k; r!z; end, q!b; p!x; s!k; r!z; end}",
            "sub",
        ),
        (
            "s!k; r!z; {q!a; end, q!b; end}",
            "{q!a; p!x; s!k; r!z; end, q!b; p!x; s!k; r!z; end}",
            "not",
        ),
        (
            "s!k; {p!x; {q!a; end, q!b; end}, p!y; q!b; end}",
            "{q!a; p!x; s!k; end, q!b; p!y; s!k; end}",
            "not",
        ),
        (
            "s!k; {p!x; q!a; end, p!y; q!b; end}",
            "{q!a; p!x; s!k; end, q!b; p!y; s!k; end}",
            "sub",
        ),
        // A peer's choice that is overtaken is not the subtype's to leave out.
        (
            "p!x; {q?a; end, q?b; end}",
            "{q?a; p!x; end, q?b; p!x; end}",
            "sub",
        ),
        ("p!x; q?a; end", "{q?a; p!x; end, q?b; p!x; end}", "not"),
        (
            "p!x; q?a; {q!c; end, q!d; end}",
            "{q?a; p!x; {q!c; end, q!d; end}, q?b; p!x; {q!c; end, q!d; end}}",
            "not",
        ),
        // A choice that the subtype makes against what is promised.
        ("s!k; {q!a; end, q!b; end}", "q!a; s!k; end", "not"),
        ("s!k; {q!b; end, q!a; end}", "q!a; s!k; end", "not"),
        // A receive that handles more than is promised, and one that handles less.
        ("r?z; {q?a; end, q?b; end}", "q?a; r?z; end", "sub"),
        ("r?z; q?b; end", "q?a; r?z; end", "not"),
        // One of two loops forgets what is pending, and the other has nothing pending.
        (
            "rec X . {p?a; X, p?b; rec Z . {p?a; Z, p?stop; q?d; end}}",
            "rec X . {p?a; X, p?b; q?d; rec Z . {p?a; Z, p?stop; end}}",
            "not",
        ),
        (
            "rec X . {p?a; X, p?b; q?d; rec Z . {p?a; Z, p?stop; end}}",
            "rec X . {p?a; X, p?b; q?d; rec Z . {p?a; Z, p?stop; end}}",
            "sub",
        ),
        // Alternatives dropped on one way are not to blame for what is wrong on another …
        (
            "{r!one; p!x; rec Y . {q!a; Y, q!b; end}, r!two; s!d; end}",
            "{r!one; rec X . {q!a; X, q!b; p!x; end}, r!two; s!c; end}",
            "not",
        ),
        // … nor for a loop behind them that forgets …
        (
            "p!x; q!b; rec Z . {e?go; Z, e?stop; r?m; q!a; end}",
            "rec X . {q!a; X, q!b; p!x; r?m; rec W . {e?go; W, e?stop; q!a; end}}",
            "not",
        ),
        (
            "p!x; q!b; rec Z . {e?go; Z, e?stop; r?m; q!a; end}",
            "{q!a; end, q!b; p!x; r?m; rec W . {e?go; W, e?stop; q!a; end}}",
            "not",
        ),
        // … even one that leaves the choice open …
        (
            "p!x; rec Z . {e?go; Z, e?stop; q!b; end}",
            "rec X . {q!a; X, q!b; p!x; rec W . {e?go; W, e?stop; end}}",
            "not",
        ),
        // … nor at the end, with the choice open and with the choice made …
        ("p!x; end", "rec X . {q!a; X, q!b; p!x; end}", "not"),
        (
            "p!x; q!b; end",
            "rec X . {q!a; X, q!b; p!x; r?m; end}",
            "not",
        ),
        // … nor for a receive, before the choice is made and after it …
        (
            "p!x; r?m; q!b; end",
            "rec X . {q!a; X, q!b; p!x; r?m; end}",
            "not",
        ),
        (
            "p!x; q!b; r?n; end",
            "rec X . {q!a; X, q!b; p!x; r?m; end}",
            "not",
        ),
        // … nor for an output once the choice is made, and nothing else is pending.
        (
            "p!x; q!b; rec Y . {e?go; Y, e?stop; s!k; end}",
            "rec X . {q!a; X, q!b; p!x; rec Y . {e?go; Y, e?stop; s!l; end}}",
            "not",
        ),
        // It may be for an output while the choice is open: the alternatives that this one needs are kept by any finite number only.
        (
            "p!x; rec Y . {q!a; Y, q!b; end}",
            "rec X . {q!a; X, q!b; p!x; end}",
            "undecided",
        ),
        (
            "p!x; q!a; q!a; q!b; end",
            "rec X . {q!a; X, q!b; p!x; end}",
            "sub",
        ),
        // Of what one way leaves pending, one action is done and another is not.
        (
            "c!w; rec X . c!w; a?u; X",
            "b?v; rec X . a?u; c!w; X",
            "not",
        ),
        // What is taken from the middle is gone, and what is behind it is not.
        ("c!w; b?v; b?v; end", "b?v; a?u; c!w; end", "not"),
        ("c!w; b?v; a?u; end", "b?v; a?u; c!w; end", "sub"),
        // A receive between two sends does not overtake the first.
        ("s!k; p?x; q!a; r!b; end", "q!a; p?x; r!b; s!k; end", "not"),
        ("s!k; q!a; p?x; r!b; end", "q!a; p?x; r!b; s!k; end", "sub"),
        // A choice that may stay open for ever.
        (
            "rec X . {c!x; X, c!y; {b!l; end, b!r; end}}",
            "{b!l; rec Y . {c!x; Y, c!y; end}, b!r; rec Z . {c!x; Z, c!y; end}}",
            "not",
        ),
        // A loop of one peer only is passed round in order.
        (
            "{p!c; rec X . q!a; q!b; X, p!d; end}",
            "{p!c; rec X . q!a; q!b; X, p!d; end}",
            "sub",
        ),
    ];
    for (sub, sup, expected) in cases {
        let (sub, sup) = (machine(sub), machine(sup));
        assert_eq!(answer(&sub, &sup), expected, "{sub:?}\n{sup:?}");
    }
}

/// Two situations that differ only in an open choice are two: by its labels, and by what each of them is followed by.
#[test]
fn open_choices_are_compared_as_a_whole() {
    let sub = "m: 0 r!one 1, 0 r!two 6, 1 p!x 2, 6 p!x 2, 2 q!a 3, 2 q!b 4, 3 s!o 5, 4 s!u 5";
    let first = "m: 0 r!one 1, 0 r!two 4, 1 q!a 2, 1 q!b 3, 2 p!x 5, 3 p!x 6, 5 s!o 7, 6 s!u 7";
    accepted(sub, &format!("{first}, 4 q!b 3, 4 q!a 2"));
    assert_eq!(
        refused(sub, &format!("{first}, 4 q!b 2, 4 q!a 3")),
        "OutputNotOffered: s!o / s!u after r!two p!x q!a"
    );
    let first = "m: 0 r!one 1, 0 r!two 4, 1 q!a 2, 1 q!b 3, 2 s!o 5, 3 s!u 5, 5 p!x 6";
    accepted(sub, &format!("{first}, 4 q!a 7, 4 q!b 8, 7 s!o 5, 8 s!u 5"));
    assert_eq!(
        refused(sub, &format!("{first}, 4 q!a 7, 4 q!b 8, 7 s!u 5, 8 s!o 5")),
        "OutputNotOffered: s!o / s!u after r!two p!x q!a"
    );
}

/// One way through both machines is judged as any other: within the limits, and with any number of peers.
#[test]
fn what_does_not_branch_keeps_the_limits() {
    let ahead = common::machine(
        "k: 0 s!ready 1, 1 s!ready 2, 2 s?value(i32) 3, 3 t?ready 4, 4 t!value(i32) 1",
    );
    let kernel = common::machine(KERNEL);
    let verdict = |anticipation| {
        let limits = Limits::default().anticipation(anticipation).widening(0);
        subtype::check(&ahead, &kernel, &limits).unwrap()
    };
    assert_eq!(verdict(2), Verdict::Undecided(Limit::Anticipation(2)));
    assert!(verdict(3).is_safe());

    let forty = |labels: &[&str]| {
        let step = |at: usize| {
            let edges = labels.iter().map(|l| format!("{at} b?{l} {}", at + 1));
            edges.collect::<Vec<_>>().join(", ")
        };
        let steps: Vec<String> = (0..40).map(step).collect();
        common::machine(&format!("m: {}", steps.join(", ")))
    };
    let limits = |steps| Limits::default().steps(steps).widening(0);
    let (sub, sup) = (forty(&["x", "y"]), forty(&["x"]));
    let verdict = |steps| subtype::check(&sub, &sup, &limits(steps)).unwrap();
    assert_eq!(verdict(200), Verdict::Undecided(Limit::Steps(200)));
    assert!(verdict(10_000).is_safe());

    // 0 to 70, and then down to 0.
    let states: Vec<String> = (0..=70)
        .map(|state| format!("{state} p{state}!x {}", (state + 70) % 71))
        .collect();
    let peers = format!("m: {}", states.join(", "));
    assert_eq!(accepted(&peers, &peers).anticipation, Some(0));
}

/// What the subtype may still do is found through all its states, in whatever order they are numbered, and among many labels.
#[test]
fn what_may_still_be_chosen_stays_open() {
    accepted(
        "m: 1 q!a 4, 1 q!b 4, 2 t!m 1, 3 t!m 2, 0 p!x 3",
        "m: 0 q!a 1, 0 q!b 1, 1 p!x 2, 2 t!m 3, 3 t!m 4",
    );
    let labels: Vec<String> = (0..150).map(|label| format!("l{label}")).collect();
    let each = |then: &str| {
        let branches: Vec<_> = labels.iter().map(|l| format!("q!{l}; {then}")).collect();
        format!("{{{}}}", branches.join(", "))
    };
    let parse = |source: String| text::parse(&source).unwrap().remove(0);
    let sup = parse(format!("m: {}", each("p!x; t!m; end")));
    let sub = parse(format!("m: p!x; t!m; {}", each("end")));
    assert_eq!(answer(&sub, &sup), "sub");
    let sub = parse(format!("m: p!x; {}", each("end")));
    assert_eq!(answer(&sub, &sup), "not");
}

/// The path leads to where the loop begins that forgets.
#[test]
fn the_way_to_a_loop_is_part_of_the_path() {
    assert_eq!(
        refused(
            "m: 0 p!a 1, 0 p!b 1, 1 p!c 2, 2 p!e 2",
            "m: 0 q?d 1, 1 p!a 2, 1 p!b 2, 2 p!c 3, 3 p!e 3",
        ),
        "Forgotten: state 2 / q?d after p!a p!c in p!e"
    );
}

/// The action that is blamed is the one that is wrong, whatever its place in the choice.
#[test]
fn a_choice_is_blamed_for_what_is_wrong_in_it() {
    let sup = "m: 0 q!a 1, 1 s!k 2";
    for sub in [
        "m: 0 s!k 1, 1 q!a 2, 1 q!b 2",
        "m: 0 s!k 1, 1 q!b 2, 1 q!a 2",
    ] {
        assert_eq!(refused(sub, sup), "OutputNotOffered: q!b / q!a after s!k");
    }
}

/// A limit is reached where it says, and not one action before.
#[test]
fn limits_are_exact() {
    let again = "s!ready; s?value; t?ready; t!value; X";
    let machine = |ahead: usize| {
        let source = format!("k: {}rec X . {again}", "s!ready; ".repeat(ahead));
        text::parse(&source).unwrap().remove(0)
    };
    let (sub, sup) = (machine(40), machine(0));
    let limits = |anticipation| Limits::default().anticipation(anticipation).widening(0);
    let verdict = |anticipation| subtype::check(&sub, &sup, &limits(anticipation)).unwrap();
    let Verdict::Safe(proof) = subtype::check(&sub, &sup, &Limits::default()).unwrap() else {
        panic!("it holds");
    };
    // Of each of 40 rounds, three actions wait.
    assert_eq!(proof.anticipation, Some(120));
    assert!(verdict(120).is_safe());
    assert_eq!(verdict(119), Verdict::Undecided(Limit::Anticipation(119)));

    // One way ends at the limit; the other is still looked at, and is wrong.
    let parse = |source: &str| text::parse(source).unwrap().remove(0);
    let sup = parse("m: {p!a; rec X . s?v; q!g; X, p!b; end}");
    let sub = parse("m: {p!a; q!g; q!g; q!g; rec X . s?v; q!g; X, p!b; p!c; end}");
    let verdict = subtype::check(&sub, &sup, &limits(2)).unwrap();
    assert!(verdict.refusal().is_some(), "{verdict:?}");

    // An output that is nearer in each alternative costs none of `branching`.
    let limits = Limits::default().branching(0);
    let sup =
        parse("m: {q!a; {r!a; p!x; end, r!b; p!x; end}, q!b; {r!a; p!x; end, r!b; p!x; end}}");
    let sub = parse("m: p!x; {q!a; r!b; end, q!b; r!a; end}");
    assert!(subtype::check(&sub, &sup, &limits).unwrap().is_safe());
    // One that may lead away does.
    let sup = parse("m: rec X . {q!a; X, q!b; p!x; end}");
    let sub = parse("m: p!x; q!a; q!b; end");
    let verdict = subtype::check(&sub, &sup, &limits).unwrap();
    assert_eq!(verdict, Verdict::Undecided(Limit::Branching(0)));
    assert_eq!(answer(&sub, &sup), "sub");
}

/// The blame is put on what cannot be right, and on the first such thing, however much of the supertype was looked at for it.
#[test]
fn the_blame_is_put_where_it_belongs() {
    let cases = [
        // What is waited for never comes, and this is where the supertype goes on without it.
        (
            "m: 0 q!x 1, 1 q?y 2, 2 p!z 1",
            "m: 0 q?y 1, 1 p!z 0",
            "OutputNotReached: q!x / p!z",
        ),
        (
            "m: 0 p!a 1, 1 p!a 2, 2 q!a 3, 3 r?c 1",
            "m: 0 p!a 3, 1 q!a 0, 2 q?a 4, 3 r?c 0, 4 q!a 3",
            "OutputNotReached: q!a / p!a after p!a p!a",
        ),
        (
            "m: 0 s?a 1",
            "m: 0 p?a 1, 1 p?b 2, 2 q?b 1",
            "InputNotReached: s?a / p?b",
        ),
        (
            "m: 0 q?a 0",
            "m: 0 q?a 1, 1 r?b 2, 2 p?b 1",
            "InputNotReached: q?a / p?b after q?a",
        ),
        // A peer may keep the supertype from it.
        (
            "m: 0 p!a 1, 1 r?c 2, 1 r?a 2, 1 r?b 1, 2 p!a 3, 3 r?c 4, 3 r?a 5, 3 r?b 6, 4 p!a 2, 5 p!a 3, 6 p!a 1",
            "m: 0 r?c 2, 0 r?a 1, 0 r?b 0, 1 p!a 0, 2 q!b 1",
            "OutputNotReached: p!a / r?b",
        ),
        (
            "m: 0 r?c 1, 0 r?a 2, 0 r?b 0, 1 q!b 2, 2 p!b 3, 3 p!b 0",
            "m: 0 r?c 2, 0 r?a 1, 0 r?b 0, 1 p!b 0, 2 q!b 1",
            "OutputNotReached: p!b / r?b after r?c q!b p!b",
        ),
        // It may choose by itself to go on without it.
        (
            "m: 0 q!b 1, 1 p!c 1",
            "m: 0 p!c 1, 1 q!a 0, 1 q!b 1",
            "OutputNotReached: p!c / q!b after q!b p!c",
        ),
        // No alternative of an open choice has it.
        (
            "m: 0 c!x 1, 1 d!o 2, 2 b!l 3, 2 b!r 3",
            "m: 0 b!l 1, 0 b!r 2, 1 c!x 3, 2 c!x 4",
            "OutputNotReached: d!o / state 4 after c!x",
        ),
        // It comes, and another label to the same peer before.
        (
            "m: 0 p!a 1, 1 q?x 2, 1 q?y 1, 2 p!b 3, 3 p!a 3",
            "m: 0 q?x 1, 0 q?y 0, 1 p!b 2, 2 p!a 2",
            "OutputsToOnePeer: p!a / p!b",
        ),
        (
            "m: 0 b!y 1, 1 c!z 2, 2 b!x 3",
            "m: 0 b!x 1, 1 c!z 2, 2 b!y 3",
            "OutputsToOnePeer: b!y / b!x",
        ),
        (
            "m: 0 b?y 1, 1 c?z 2, 2 b?x 3",
            "m: 0 b?x 1, 1 c?z 2, 2 b?y 3",
            "InputsFromOnePeer: b?y / b?x",
        ),
        // It never comes, and another label does.
        (
            "m: 0 p!a 0",
            "m: 0 p?x 1, 0 p?y 2, 1 p!b 2",
            "OutputNotOffered: p!a / p!b",
        ),
        // What is left over at the end.
        (
            "m: 0 a?x 1, 0 a?y 1",
            "m: 0 a?x 1, 1 a?x 2, 1 a?y 2",
            "Forgotten: state 1 / a?x after a?x",
        ),
        // What is left out in a loop, by choice or always: the loop, and the way there.
        (
            "m: 0 p!c 1, 1 q?a 2, 2 p!b 1, 2 p!c 2",
            "m: 0 q?a 1, 1 p!b 0, 1 p!c 0",
            "Forgotten: state 2 / q?a after p!c q?a p!c in p!c",
        ),
        (
            "m: 0 p!c 1, 1 p!c 1",
            "m: 0 p!c 1, 1 p?a 0",
            "Forgotten: state 1 / p?a after p!c p!c in p!c",
        ),
        (
            "m: 0 r!a 1, 1 p?x 2, 1 p?y 3, 2 r!a 4, 3 q?b 2, 4 r!a 4",
            "m: 0 p?x 3, 0 p?y 1, 1 q?b 3, 2 r!a 2, 3 p!c 2",
            "Forgotten: state 4 / p!c after r!a p?x r!a in r!a",
        ),
        (
            "m: 0 q?a 1, 1 p?a 2, 1 p?b 0, 2 r?b 3, 3 r?b 2, 3 r?c 3, 3 r?d 4, 4 p?a 3",
            "m: 0 q?a 4, 1 r?b 2, 1 r?c 3, 2 r?b 1, 3 p?a 1, 4 p?a 2, 4 p?b 0",
            "Forgotten: state 2 / p?a after q?a p?a r?b r?c r?b in r?b r?b",
        ),
        (
            "m: 0 q!a 1, 0 q!b 1, 1 r!a 1, 1 r!b 0",
            "m: 0 q!a 1, 0 q!b 1, 1 r!a 0, 1 r!b 0",
            "Forgotten: state 1 / q!a after q!a r!a r!a in r!a",
        ),
    ];
    for (sub, sup, expected) in cases {
        assert_eq!(refused(sub, sup), expected, "{sub} / {sup}");
    }
}

/// Accepted, with the most that is pending at once.
#[test]
fn what_is_pending_is_counted_in_all_alternatives() {
    let cases = [
        // An open choice counts with all that it may be.
        (
            "m: 0 p!x 1, 1 r!a 2, 1 r!b 2, 2 p!x 1",
            "m: 0 r!a 1, 0 r!b 1, 1 p!x 0",
            2,
        ),
        (
            "m: 0 s!a 1, 1 s!a 2, 2 p!b 1, 2 p!c 1",
            "m: 0 s!a 1, 1 p!d 0, 1 p!b 0, 1 p!c 0",
            2,
        ),
        // Not with what the subtype never chooses.
        (
            "m: 0 p!a 1, 1 p!a 2, 2 s!b 1",
            "m: 0 p!a 3, 3 s!b 0, 3 s!c 0",
            1,
        ),
        // Alternatives of peers are counted each for itself.
        (
            "m: 0 d?a 1, 0 d?b 2, 1 e?x 3, 2 e?x 3",
            "m: 0 e?x 1, 1 d?a 2, 1 d?b 2",
            1,
        ),
        (
            "m: 0 s!a 1, 1 p?x 2, 1 p?y 0, 2 r!b 0",
            "m: 0 p?x 2, 0 p?y 1, 1 s!a 0, 2 r!b 1",
            2,
        ),
        // Two are pending, done in turns, by each loop both.
        (
            "m: 0 s!a 1, 0 s!b 2, 1 s!a 3, 1 s!b 4, 2 q!x 0, 3 q!x 1, 4 q!x 2",
            "m: 0 q!x 2, 2 s!a 0, 2 s!b 0",
            2,
        ),
        (
            "m: 0 q!a 1, 1 q!a 2, 2 q!a 3, 3 q?x 4, 4 r?a 2, 4 r?b 5, 4 r?c 2, 5 q!a 4",
            "m: 0 q?x 1, 1 q!a 2, 2 r?a 0, 2 r?b 1, 2 r?c 0",
            5,
        ),
        // Behind choices, and overtaken choices that are inside each other.
        (
            "m: 0 s!a 1, 1 s!a 2, 2 s!a 3, 3 r!b 2, 3 r!c 4, 4 s!a 3",
            "m: 0 s!a 2, 2 r!b 0, 2 r!c 0",
            6,
        ),
        (
            "m: 0 s!a 1, 1 s!a 2, 2 q!x 1, 2 q!y 3, 2 q!z 3, 3 s!a 4, 4 r!b 2",
            "m: 0 s!a 2, 1 r!b 0, 2 q!x 0, 2 q!y 1, 2 q!z 1",
            6,
        ),
        // Two that differ in one label.
        (
            "m: 0 g!u 1, 0 g!v 2, 1 c!x 3, 2 c!x 3, 3 b!l 4, 4 b!r 5, 4 b!n 5",
            "m: 0 g!u 1, 0 g!v 2, 1 b!l 3, 1 b!r 4, 2 b!l 3, 2 b!n 4, 3 c!x 5, 4 c!x 6, 5 b!r 6, 5 b!n 6",
            2,
        ),
        // Two of four that the subtype never chooses, and one that its own later output excludes.
        (
            "m: 0 c!x 1, 1 b!m 2, 1 b!n 2",
            "m: 0 b!k 1, 0 b!l 1, 0 b!m 1, 0 b!n 1, 1 c!x 2",
            2,
        ),
        (
            "m: 0 c!x 1, 1 f!u 2, 1 f!v 4, 1 f!w 5, 2 b!l 3, 2 b!r 3, 4 b!l 3, 5 b!r 3",
            "m: 0 b!l 1, 0 b!r 2, 1 f!u 3, 1 f!v 3, 2 f!u 3, 2 f!w 3, 3 c!x 4",
            6,
        ),
        // What is pending is done after one step, or after two.
        (
            "m: 0 a!k 1, 1 a!k 2, 1 a!j 2, 1 a!l 3, 1 a!m 3, 2 z?v 1, 3 b!x 4, 3 b!y 4, 4 z?v 1",
            "m: 0 z?v 1, 1 a!k 0, 1 a!j 0, 1 a!l 2, 1 a!m 2, 2 b!x 0, 2 b!y 0",
            2,
        ),
        // Each look ahead may pass over as much as the last.
        (
            "m: 0 c!x 1, 1 e!y 2, 2 b!l 3, 3 b!r 4, 4 f!l 5, 5 f!r 6",
            "m: 0 b!l 0, 0 b!r 1, 1 c!x 2, 2 f!l 2, 2 f!r 3, 3 e!y 4",
            9,
        ),
        // What the subtype may still choose, it may choose where its first state comes again.
        (
            "m: 0 q!a 1, 0 q!b 1, 1 p!x 2, 2 p!x 0",
            "m: 0 q!a 1, 0 q!b 1, 1 p!x 2, 2 q!a 3, 2 q!b 3, 3 p!x 4, 4 p!x 2",
            2,
        ),
        (
            "m: 0 q!a 1, 0 q!b 1, 1 p!x 2, 2 p!x 3, 3 r!k 0",
            "m: 0 q!a 1, 0 q!b 1, 1 p!x 2, 2 r!k 3, 3 q!a 4, 3 q!b 4, 4 p!x 5, 5 p!x 6, 6 r!k 3",
            3,
        ),
    ];
    for (sub, sup, expected) in cases {
        let proof = accepted(sub, sup);
        assert_eq!(proof.anticipation, Some(expected), "{sub} / {sup}");
        // As a limit it suffices, and one fewer does not.
        let verdict = |anticipation| {
            let limits = Limits::default()
                .anticipation(anticipation)
                .steps(1_000)
                .widening(0);
            subtype::check(&common::machine(sub), &common::machine(sup), &limits).unwrap()
        };
        assert!(verdict(expected).is_safe(), "{sub} / {sup}");
        let limited = Verdict::Undecided(Limit::Anticipation(expected - 1));
        assert_eq!(verdict(expected - 1), limited, "{sub} / {sup}");
    }
}

/// An alternative that leads no nearer is dropped at first. What is wrong without it is no reason to refuse: neither an
/// output that only it has, nor an action that only the others promise.
#[test]
fn what_was_dropped_is_tried_before_anything_is_refused() {
    accepted(
        "m: 0 c!x 1, 1 d!o 2, 2 b!l 3, 3 b!r 4",
        "m: 0 b!l 1, 0 b!r 2, 1 d!o 0, 2 c!x 3",
    );
    accepted(
        "m: 0 c!x 1, 1 g!u 2, 1 g!v 2, 2 b!l 3, 2 b!r 4, 3 d?i 5, 4 z!k 5",
        "m: 0 g!u 1, 0 g!v 1, 1 b!l 2, 1 b!r 3, 2 d?i 4, 3 c!x 5, 4 c!x 6, 5 z!k 7",
    );
    accepted(
        "m: 0 c!x 1, 1 g!u 2, 1 g!v 2, 2 b!l 3, 2 b!r 4, 3 d?i 6, 6 d?j 5, 4 z!k 5",
        "m: 0 g!u 1, 0 g!v 1, 1 b!l 2, 1 b!r 3, 2 d?i 4, 4 d?j 6, 6 c!x 7, 3 z!k 5, 5 c!x 7",
    );
    let limited = |sub: &str, sup: &str, branching| {
        let limits = Limits::default().branching(branching).widening(0);
        subtype::check(&common::machine(sub), &common::machine(sup), &limits).unwrap()
    };
    // What is wrong without anything dropped is refused, also if it is met after something was dropped as well,
    let both = limited(
        "m: 0 g!u 1, 0 g!v 2, 1 c!x 3, 2 c!x 3, 3 d!o 4, 4 b!l 5, 4 b!r 5",
        "m: 0 g!u 1, 0 g!v 2, 1 b!l 1, 1 b!r 3, 3 c!x 5, 2 b!r 4, 4 c!x 5",
        0,
    );
    assert!(both.refusal().is_some(), "{both:?}");
    // or if what was dropped was lost for every choice.
    let lost = limited(
        "m: 0 c!x 1, 1 d!o 2, 2 b!l 3, 2 b!r 3",
        "m: 0 b!l 1, 0 b!r 2, 1 c!y 3, 2 c!x 4",
        0,
    );
    assert!(lost.refusal().is_some(), "{lost:?}");
    // The alternative that leads nearer is found whatever comes before it, and each round of the other costs one.
    let verdict = |sub, branching| limited(sub, "m: 0 b!l 0, 0 b!r 1, 1 c!x 2", branching);
    assert!(verdict("m: 0 c!x 1, 1 b!r 2", 0).is_safe());
    let rounds = "m: 0 c!x 1, 1 b!l 2, 2 b!l 3, 3 b!l 4, 4 b!r 5";
    assert!(verdict(rounds, 3).is_safe());
    assert_eq!(verdict(rounds, 2), Verdict::Undecided(Limit::Branching(2)));
}

/// What a search costs: with as many steps it is decided, and with one fewer it is not.
#[test]
fn each_action_that_is_compared_looked_at_or_copied_costs_a_step() {
    let cases = [
        ("m: 0 p!a 1", "m: 0 p!a 1", 6),
        ("m: 0 p!a 1, 1 q!b 2", "m: 0 q!b 1, 1 p!a 2", 7),
        ("m: 0 p!a 1, 0 p!b 1", "m: 0 p!a 1, 0 p!b 1", 17),
        ("m: 0 p?a 1, 0 p?b 1", "m: 0 p?a 1, 0 p?b 1", 18),
        (
            "m: 0 q!x 1, 1 p!a 2, 1 p!b 3, 1 p!c 4",
            "m: 0 p!a 1, 0 p!b 2, 0 p!c 3, 1 q!x 4, 2 q!x 5, 3 q!x 6",
            42,
        ),
        (
            "m: 0 q!x 1, 1 p?a 2, 1 p?b 3",
            "m: 0 p?a 1, 0 p?b 2, 1 q!x 4, 2 q!x 5",
            25,
        ),
        (
            "m: 0 q!x 1, 1 r?k 2, 2 p?a 3, 2 p?b 4",
            "m: 0 r?k 1, 1 p?a 2, 1 p?b 3, 2 q!x 4, 3 q!x 5",
            31,
        ),
        (
            "m: 0 q?x 1, 1 p?a 2, 1 p?b 3",
            "m: 0 p?a 1, 0 p?b 2, 1 q?x 4, 2 q?x 5",
            21,
        ),
        (
            "m: 0 q?x 1, 0 q?y 1, 1 r?k 2, 2 p?a 3, 2 p?b 4",
            "m: 0 r?k 1, 1 p?a 2, 1 p?b 3, 2 q?x 4, 3 q?x 5, 2 q?y 4, 3 q?y 5",
            62,
        ),
        (
            "m: 0 q!x 1, 1 r!y 2, 2 p!a 3, 2 p!b 4, 3 s?k 5",
            "m: 0 p!a 1, 0 p!b 2, 1 s?k 3, 3 t?k 6, 6 q!x 4, 2 q!x 5, 4 r!y 7, 5 r!y 8",
            57,
        ),
        (
            "m: 0 z!n 1, 1 q!x 2, 2 p!a 3, 2 p!b 4, 3 s?k 5, 3 s?l 5, 4 s?k 5, 4 s?l 5",
            "m: 0 p!a 1, 0 p!b 2, 1 s?k 3, 1 s?l 4, 2 s?k 5, 2 s?l 6, 3 q!x 7, 4 q!x 7, 5 q!x 7, 6 q!x 7, 7 z!n 8",
            226,
        ),
        (
            "m: 0 c!x 1, 1 b!l 2, 2 b!l 3, 3 b!r 4",
            "m: 0 b!l 0, 0 b!r 1, 1 c!x 2",
            38,
        ),
        (
            "m: 0 s!a 1, 1 p?x 2, 1 p?y 0, 2 r!b 0",
            "m: 0 p?x 2, 0 p?y 1, 1 s!a 0, 2 r!b 1",
            34,
        ),
        (
            "m: 0 p!a 1, 1 p!a 2, 2 s!b 1",
            "m: 0 p!a 3, 3 s!b 0, 3 s!c 0",
            21,
        ),
    ];
    for (sub, sup, expected) in cases {
        let (own, other) = (common::machine(sub), common::machine(sup));
        let verdict = |steps| {
            let limits = Limits::default().steps(steps).widening(0);
            subtype::check(&own, &other, &limits).unwrap()
        };
        let limited = Verdict::Undecided(Limit::Steps(expected - 1));
        assert_eq!(verdict(expected - 1), limited, "{sub} / {sup}");
        let decided = verdict(expected);
        assert!(
            !matches!(decided, Verdict::Undecided(_)),
            "{sub} / {sup}: {decided:?}"
        );
    }
}

/// Looking ahead alone may be exponential: here in how many choices of peers are passed over before a choice of one's own, because
/// each of its alternatives may go on in its own way.
#[test]
fn looking_ahead_ends_at_the_limit() {
    // Each alternative has 2⁶ ways to come to c!x, so there are 2⁶ · 2⁶ · 2⁶ · 2⁶ of the choice.
    let mut sup: String = (0..4)
        .map(|label| format!("0 b!l{label} {}, ", 1 + 10 * label))
        .collect();
    for label in 0..4 {
        for depth in 0..6 {
            let at = 1 + 10 * label + depth;
            sup.push_str(&format!("{at} d?y {}, {at} d?n {}, ", at + 1, at + 1));
        }
        sup.push_str(&format!("{} c!x 99, ", 7 + 10 * label));
    }
    let sup = common::machine(&format!("m: {}", sup.trim_end_matches(", ")));
    let sub = common::machine("m: 0 c!x 1, 1 b!l0 2, 1 b!l1 2, 1 b!l2 2, 1 b!l3 2");
    let limits = Limits::default().steps(100_000);
    let verdict = subtype::check(&sub, &sup, &limits).unwrap();
    assert_eq!(verdict, Verdict::Undecided(Limit::Steps(100_000)));
}

/// One way anticipates more and more and would take all steps; the other is wrong. A small budget is tried first, so that is found out.
#[test]
fn an_endless_way_does_not_hide_a_wrong_one() {
    let sub = "m: 0 g!u 1, 0 g!v 6, 1 s!ready 2, 2 s?value 3, 3 t?ready 4, 4 t!value 5, 5 t!value 1, 6 z!bad 7";
    let sup = "m: 0 g!u 1, 0 g!v 5, 1 s!ready 2, 2 s?value 3, 3 t?ready 4, 4 t!value 1, 5 z!good 6";
    let limits = Limits::default().steps(20_000).widening(0);
    let verdict = |sub| {
        let (sub, sup) = (common::machine(sub), common::machine(sup));
        subtype::check(&sub, &sup, &limits).unwrap()
    };
    let refused = verdict(sub);
    let rule = refused.refusal().map(|refusal| refusal.rule);
    assert_eq!(rule, Some(subtype::Rule::OutputNotOffered), "{refused:?}");
    // Without the wrong one, the steps do not suffice.
    let limited = Verdict::Undecided(Limit::Steps(20_000));
    assert_eq!(verdict(&sub.replace("bad", "good")), limited);
}

/// Choices of any width, in any order, and among other actions than the other machine has.
#[test]
fn choices_may_be_of_any_width() {
    for (width, direction) in (1..=20_usize).flat_map(|width| [(width, '!'), (width, '?')]) {
        // The same choice in two states, with three answers in between.
        let wide = |labels: &[usize], turn: usize, more: &str| {
            let choice = |state| {
                let edge = move |label| format!("{state} p{direction}l{label} {}", 1 + label % 3);
                labels.iter().map(edge)
            };
            let answers =
                (1..=3).map(|state| format!("{state} q!a{state} {}", 4 * ((state + turn) % 2)));
            let all: Vec<String> = choice(0).chain(answers).chain(choice(4)).collect();
            common::machine(&format!("m: {}{more}", all.join(", ")))
        };
        let all: Vec<usize> = (0..width).collect();
        let turned: Vec<usize> = all.iter().rev().copied().collect();
        let mixed: Vec<usize> = all.iter().map(|at| at * 7 % 23).collect();
        let mut sorted = mixed.clone();
        sorted.sort_unstable();
        let (one, other) = (wide(&all, 0, ""), wide(&turned, 0, ""));
        assert_eq!(answer(&one, &other), "sub", "{width} {direction}");
        assert_eq!(answer(&other, &one), "sub", "{width} {direction}");
        let (mixed, sorted) = (wide(&mixed, 0, ""), wide(&sorted, 0, ""));
        assert_eq!(answer(&mixed, &sorted), "sub", "{width} {direction}");
        // The two states in the other's places.
        let other = wide(&all, 1, "");
        assert_eq!(answer(&one, &other), "sub", "{width} {direction}");
        // An output more is one too many, and an input more is one too few.
        let more: Vec<usize> = (0..=width).collect();
        let more = wide(&more, 0, "");
        let expected = match direction {
            '!' => ["sub", "not"],
            _ => ["not", "sub"],
        };
        assert_eq!(
            [answer(&one, &more), answer(&more, &one)],
            expected,
            "{width} {direction}"
        );
        // Actions of states to which nothing leads change the numbers of all.
        let renumbered = wide(&all, 0, ", 50 b!z 51, 51 p!k 50");
        assert_eq!(answer(&one, &renumbered), "sub", "{width} {direction}");
        // Another label is another message.
        let mut swapped = turned;
        swapped[0] = 3 * width;
        assert_eq!(
            answer(&wide(&swapped, 0, ""), &one),
            "not",
            "{width} {direction}"
        );

        // One state for the two.
        let edges = all
            .iter()
            .map(|label| format!("0 p{direction}l{label} {}", 1 + label % 3));
        let folded: Vec<String> = edges
            .chain((1..=3).map(|state| format!("{state} q!a{state} 0")))
            .collect();
        let folded = common::machine(&format!("m: {}", folded.join(", ")));
        assert_eq!(answer(&one, &folded), "sub", "{width} {direction}");
        assert_eq!(answer(&folded, &one), "sub", "{width} {direction}");

        // No state with fewer.
        let round = |labels: &[usize]| {
            let edges = labels
                .iter()
                .map(|label| format!("0 p{direction}l{label} 0"));
            common::machine(&format!("m: {}", edges.collect::<Vec<_>>().join(", ")))
        };
        assert_eq!(
            answer(&round(&all), &round(&all)),
            "sub",
            "{width} {direction}"
        );
    }

    // What the subtype may still do is a set of bits, here of `width` + 1.
    for width in 60..70 {
        let choice = |from: usize, to: usize| {
            let edges = (0..width).map(|label| format!("{from} q!l{label} {to}"));
            edges.collect::<Vec<_>>().join(", ")
        };
        accepted(
            &format!("m: 0 p!x 1, {}", choice(1, 2)),
            &format!("m: {}, 1 p!x 2", choice(0, 1)),
        );
    }
}

/// What is done between two situations is a set of bits too: here y? is the 64th and z? the 65th kind of action, a! is the first; y?
/// and z? are always pending, and one of three steps does them.
#[test]
fn certificates_know_many_kinds_of_actions() {
    let with = |ahead: &[&str], lap: [(usize, &str, usize); 6]| {
        let before = (0..62).map(|peer| format!("{peer} p{peer:02}!x {}", peer + 1));
        let ahead_of = ahead.iter().zip(62..);
        let ahead_of = ahead_of.map(|(action, at)| format!("{at} {action} {}", at + 1));
        let start = 62 + ahead.len();
        let lap = lap.map(|(from, action, to)| format!("{} {action} {}", start + from, start + to));
        let all: Vec<String> = before.chain(ahead_of).chain(lap).collect();
        format!("m: {}", all.join(", "))
    };
    let sup = with(
        &[],
        [
            (0, "y?k", 1),
            (1, "z?k", 2),
            (2, "a!l", 3),
            (2, "a!m", 3),
            (3, "a!l", 0),
            (3, "a!m", 0),
        ],
    );
    let sub = with(
        &["a!l", "a!m"],
        [
            (0, "a!l", 1),
            (0, "a!m", 1),
            (1, "a!l", 2),
            (1, "a!m", 2),
            (2, "y?k", 3),
            (3, "z?k", 0),
        ],
    );
    assert_eq!(accepted(&sub, &sup).anticipation, Some(4));
}

/// `first` choices, each inside the last, then c!x, `second` more of them, and e!y. Or c!x and e!y ahead of all.
///
/// ```text
///   b!{ l . b!{ l . b!{ … } , r . d?y . c!x … } , r . d?y . d?y . c!x … }
/// ```
fn nested(first: usize, second: usize, ahead: bool) -> Fsm {
    let mut lines = vec![];
    let mut edge =
        |from: usize, action: &str, to: usize| lines.push(format!("{from} {action} {to}"));
    let mut at = 0;
    let mut next = 1;
    for action in ["c!x", "e!y"].iter().filter(|_| ahead) {
        edge(at, action, next);
        (at, next) = (next, next + 1);
    }
    for (peer, depth, due) in [
        ("b", first, ["c!x", "e!y"].as_slice()),
        ("f", second, &["e!y"]),
    ] {
        // Aside, it is as far as on the other way, so that both lead nearer: from state `aside + n`, over n times d?y.
        let aside = next;
        for n in 1..depth {
            edge(aside + n, "d?y", aside + n - 1);
        }
        next += depth.max(1);
        let mut end = aside;
        for action in due.iter().filter(|_| !ahead) {
            edge(end, action, next);
            (end, next) = (next, next + 1);
        }
        for level in 0..depth {
            edge(at, &format!("{peer}!l"), next);
            edge(at, &format!("{peer}!r"), aside + depth - 1 - level);
            (at, next) = (next, next + 1);
        }
        if !ahead {
            edge(at, due[0], next);
            (at, next) = (next, next + 1);
        }
    }
    common::machine(&format!("m: {}", lines.join(", ")))
}

/// Choices inside each other are passed over as deep as it says, by one look ahead or by several that each go further.
#[test]
fn as_many_choices_are_passed_over_as_it_says() {
    let verdict = |first, second| {
        let limits = Limits::default()
            .anticipation(1_000_000)
            .steps(100_000_000)
            .widening(0);
        let (sub, sup) = (nested(first, second, true), nested(first, second, false));
        let verdict = subtype::check(&sub, &sup, &limits).unwrap();
        if let Verdict::Safe(proof) = &verdict {
            assert_eq!(certificate::check(&proof.certificate(), &sub, &sup), Ok(()));
        }
        verdict
    };
    for (first, second) in [(1, 0), (0, 1), (3, 2), (256, 0), (156, 100)] {
        assert!(verdict(first, second).is_safe(), "{first} {second}");
    }
    for (first, second) in [(257, 0), (157, 100), (10, 300)] {
        let limited = Verdict::Undecided(Limit::Branching(256));
        assert_eq!(verdict(first, second), limited, "{first} {second}");
    }
}
