//! Asynchronous subtyping.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "an unwrap in a test is an assertion"
)]

mod common;

use rumpsteak_fsm::{Fsm, Limits, Verdict, dot, subtype, text};

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
fn the_pairs_of_the_corpus() {
    let Some(pairs) = common::corpus("pairs") else {
        return;
    };
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
fn the_binary_corpus() {
    let Some(folder) = common::corpus("binary") else {
        return;
    };
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
    // Those that anticipate without bound.
    let unbounded = [
        "june1.txt",
        "innerloop1-dual.txt",
        "snewex1.txt",
        "july1.txt",
        "september1.txt",
        "decidablilityex1.txt",
        "smallinnerloop1.txt",
        "innerloop1.txt",
        "mario-b.txt",
        "expensive1.txt",
        "ctxta1.txt",
        "march3testa1.txt",
        "14may2.txt",
        "ex1-ok-loop.txt",
    ];
    assert_eq!((decided, undecided), (80, unbounded.to_vec()));
}
