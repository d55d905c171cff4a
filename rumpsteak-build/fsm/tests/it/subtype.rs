//! Asynchronous subtyping of machines that are too large for a case in `cases`, and the
//! corpora.

use rumpsteak_fsm::subtype::{self, Proof, Side};
use rumpsteak_fsm::verify::certified;
use rumpsteak_fsm::{Action, Fsm, Limit, Limits, Verdict, dot, text};
use rumpsteak_oracle::cases::{self, Relation};
use rumpsteak_oracle::{corpus, local};

use crate::common;

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
        dot::parse(&std::fs::read_to_string(pairs.join(name)).unwrap()).unwrap().remove(0)
    };
    let mut accepted = 0;
    for line in expected.lines().skip(1) {
        let (name, expected) = line.split_once(',').unwrap();
        let (sub, sup) = (read(format!("{name}.sub.dot")), read(format!("{name}.sup.dot")));
        let answer = answer(&sub, &sup);
        if answer == "sub" {
            assert!(prove(&sub, &sup).anticipation.is_some(), "{name}");
            accepted += 1;
        }
        // Whether a third role starves is not subtyping's to say.
        let expected = expected.trim_end_matches("-starves");
        assert!(expected.split("-or-").any(|allowed| allowed == answer), "{name}: {answer}");
    }
    assert_eq!((expected.lines().count() - 1, accepted), (27, 12));
}

#[test]
fn an_answer_does_not_depend_on_earlier_comparisons() {
    let parse = |text: &str| text::parse(text).unwrap().remove(0);
    let sup = parse("b: a?go; {q!x; p!z; end, q!y; p!w; end}");
    let same_actions = parse("b: a?go; {p!z; q!x; end, p!w; q!y; end}");
    // One more action, which gives the others other numbers.
    let more_actions = parse("b: {a?go; p!z; q!x; end, a?gone; end}");
    for sub in [&same_actions, &more_actions, &same_actions] {
        assert_eq!(answer(sub, &sup), "sub", "{sub:?}");
    }
}

#[track_caller]
fn prove(sub: &Fsm, sup: &Fsm) -> Proof {
    match certified(sub, sup, &Limits::default()).unwrap() {
        Verdict::Safe(proof) => proof,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn accepted(sub: &str, sup: &str) -> Proof {
    prove(&common::machine(sub), &common::machine(sup))
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
        "the supertype is not a local type: state 0 both sends and receives; \
         let it do one first and the other in a state of its own"
    );
}

/// A loop of `length` actions, each made from the number of its step.
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
    assert!(subtype::check(&long, &chain(3, receive("b")), &limits).unwrap().is_safe());

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

    // A supertype of 2,000 choices of receives, each of which leads to the next, is passed over at
    // once.
    let mut builder = Fsm::builder("a");
    let states: Vec<_> = (0..2_001).map(|_| builder.add_state()).collect();
    for pair in states.windows(2) {
        for label in ["l", "r"] {
            builder.add_transition(pair[0], Action::receive("b", label, &[]), pair[1]);
        }
    }
    builder.add_transition(states[2_000], Action::send("c", "y", &[]), states[0]);
    let verdict = subtype::check(&sub, &builder.build(states[0]), &limits).unwrap();
    assert_eq!(verdict, Verdict::Undecided(Limit::Branching(256)));
}

#[test]
fn the_oracle_s_table() {
    for case in cases::CASES.iter() {
        let machine = |text| local(case.role, text).unwrap();
        let (sub, sup) = (machine(case.sub), machine(case.sup));
        let verdict = certified(&sub, &sup, &Limits::default()).unwrap();
        let fits = match case.relation {
            Relation::Subtype => verdict.is_safe(),
            Relation::NotSubtype => verdict.refusal().is_some(),
            Relation::Unbounded => verdict.refusal().is_none(),
        };
        assert!(fits, "{}: {verdict:?}", case.name);
    }
}

/// One way through both machines is judged as any other: within the limits, and with any number of
/// peers.
#[test]
fn what_does_not_branch_keeps_the_limits() {
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
    let states: Vec<String> =
        (0..=70).map(|state| format!("{state} p{state}!x {}", (state + 70) % 71)).collect();
    let peers = format!("m: {}", states.join(", "));
    assert_eq!(accepted(&peers, &peers).anticipation, Some(0));
}

/// The future actions of the subtype are found among many labels.
#[test]
fn what_may_still_be_chosen_stays_open() {
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

/// Looking ahead alone may be exponential: here in how many choices of peers are passed over before
/// a choice of one's own, because each of its alternatives may go on in its own way.
#[test]
fn looking_ahead_ends_at_the_limit() {
    // Each alternative has 2⁶ ways to come to c!x, so there are 2⁶ · 2⁶ · 2⁶ · 2⁶ of the choice.
    let mut sup: String =
        (0..4).map(|label| format!("0 b!l{label} {}, ", 1 + 10 * label)).collect();
    for label in 0..4 {
        for depth in 0..6 {
            let at = 1 + 10 * label + depth;
            sup.push_str(&format!("{at} d?y {}, {at} d?n {}, ", at + 1, at + 1));
        }
        sup.push_str(&format!("{} c!x 99, ", 7 + 10 * label));
    }
    let sup = common::machine(&format!("m: {}", sup.trim_end_matches(", ")));
    let sub = common::machine("m: 0 c!x 1, 1 b!l0 2, 1 b!l1 2, 1 b!l2 2, 1 b!l3 2");
    let verdict = subtype::check(&sub, &sup, &Limits::default().steps(100_000)).unwrap();
    assert_eq!(verdict, Verdict::Undecided(Limit::Steps(100_000)));
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
        assert_eq!(answer(&one, &wide(&all, 1, "")), "sub", "{width} {direction}");
        // An output more is one too many, and an input more is one too few.
        let more: Vec<usize> = (0..=width).collect();
        let more = wide(&more, 0, "");
        let expected = match direction {
            '!' => ["sub", "not"],
            _ => ["not", "sub"],
        };
        assert_eq!([answer(&one, &more), answer(&more, &one)], expected, "{width} {direction}");
        // Actions of states to which nothing leads change the numbers of all.
        let renumbered = wide(&all, 0, ", 50 b!z 51, 51 p!k 50");
        assert_eq!(answer(&one, &renumbered), "sub", "{width} {direction}");
        // Another label is another message.
        let mut swapped = turned;
        swapped[0] = 3 * width;
        assert_eq!(answer(&wide(&swapped, 0, ""), &one), "not", "{width} {direction}");

        // One state for the two.
        let edges = all.iter().map(|label| format!("0 p{direction}l{label} {}", 1 + label % 3));
        let folded: Vec<String> =
            edges.chain((1..=3).map(|state| format!("{state} q!a{state} 0"))).collect();
        let folded = common::machine(&format!("m: {}", folded.join(", ")));
        assert_eq!(answer(&one, &folded), "sub", "{width} {direction}");
        assert_eq!(answer(&folded, &one), "sub", "{width} {direction}");

        // No state with fewer.
        let round = |labels: &[usize]| {
            let edges = labels.iter().map(|label| format!("0 p{direction}l{label} 0"));
            common::machine(&format!("m: {}", edges.collect::<Vec<_>>().join(", ")))
        };
        assert_eq!(answer(&round(&all), &round(&all)), "sub", "{width} {direction}");
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

/// The actions between two situations are a set of bits too: here y? is the 64th and z? the 65th
/// kind of action, a! is the first; y? and z? are always pending, and one of three steps does them.
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
        [(0, "y?k", 1), (1, "z?k", 2), (2, "a!l", 3), (2, "a!m", 3), (3, "a!l", 0), (3, "a!m", 0)],
    );
    let sub = with(
        &["a!l", "a!m"],
        [(0, "a!l", 1), (0, "a!m", 1), (1, "a!l", 2), (1, "a!m", 2), (2, "y?k", 3), (3, "z?k", 0)],
    );
    assert_eq!(accepted(&sub, &sup).anticipation, Some(4));
}

/// `first` choices, each inside the last, then c!x, `second` more of them, and e!y. Or c!x and e!y
/// ahead of all.
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
    for (peer, depth, due) in [("b", first, ["c!x", "e!y"].as_slice()), ("f", second, &["e!y"])] {
        // Aside, it is as far as on the other way, so that both lead nearer: from state `aside +
        // n`, over n times d?y.
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

/// PPoPP'22, Fig. 7, k-buffering: the kernel asks for so many values more than it has room for.
#[test]
fn what_may_be_pending_grows_with_the_machines() {
    let kernel = |ahead: usize| {
        let asked = "s!ready; ".repeat(ahead);
        let text = format!("k: {asked}rec X . s!ready; s?value; t?ready; t!value; X");
        rumpsteak_fsm::text::parse(&text).unwrap().remove(0)
    };
    for ahead in [400, 4_000] {
        let Verdict::Safe(proof) =
            certified(&kernel(ahead), &kernel(0), &Limits::default()).unwrap()
        else {
            panic!("{ahead}");
        };
        assert_eq!(proof.anticipation, Some(3 * ahead));
    }
}

/// Choices inside each other are passed over as deep as it says, by one look ahead or by several
/// that each go further.
#[test]
fn as_many_choices_are_passed_over_as_it_says() {
    let verdict = |first, second| {
        let limits = Limits::default().anticipation(1_000_000).steps(100_000_000).widening(0);
        let (sub, sup) = (nested(first, second, true), nested(first, second, false));
        certified(&sub, &sup, &limits).unwrap()
    };
    for (first, second) in [(1, 0), (0, 1), (3, 2), (256, 0), (156, 100)] {
        assert!(verdict(first, second).is_safe(), "{first} {second}");
    }
    for (first, second) in [(257, 0), (157, 100), (10, 300)] {
        let limited = Verdict::Undecided(Limit::Branching(256));
        assert_eq!(verdict(first, second), limited, "{first} {second}");
    }
}
