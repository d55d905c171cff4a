//! The verdict file: what is written is what is read, and nothing else is.

use rumpsteak_contract::VERSION;
use rumpsteak_contract::verdict::{
    Action, Body, Capacity, Chain, Direction, Entry, Kind, Outcome, ParseError, Problem, Proof,
    Queue, RoleName, Site, System, Tail, Target, TargetKind, Verdicts,
};

fn role(name: &str) -> RoleName {
    RoleName {
        protocol: "DoubleBuffering".to_owned(),
        role: name.to_owned(),
    }
}

fn send(peer: &str, label: &str) -> Action {
    Action {
        direction: Direction::Send,
        peer: role(peer),
        label: label.to_owned(),
    }
}

fn entry(
    name: &str,
    target: (TargetKind, &str),
    file: &str,
    line: usize,
    outcome: Outcome,
) -> Entry {
    Entry {
        kind: Kind::Session,
        name: name.to_owned(),
        hash: 0xfeed,
        target: Target {
            kind: target.0,
            name: target.1.to_owned(),
        },
        file: file.to_owned(),
        line,
        outcome,
    }
}

const BIN: (TargetKind, &str) = (TargetKind::Bin, "my-app");
const LIB: (TargetKind, &str) = (TargetKind::Lib, "my-app");

fn failed(token: usize, text: &str) -> Outcome {
    Outcome::Failed {
        id: Some(7),
        plays: true,
        problems: vec![Problem {
            token,
            text: text.to_owned(),
        }],
    }
}

fn passed() -> Outcome {
    Outcome::Passed(Proof::default())
}

fn queue(route: usize, peer: &str, capacity: Capacity) -> Queue {
    Queue {
        route,
        peer: peer.to_owned(),
        capacity,
    }
}

fn sample() -> Verdicts {
    let kernel = Proof {
        plays: Some(role("k")),
        id: None,
        body: Some(Body::Chain(Chain {
            actions: vec![send("s", "Ready")],
            tail: Tail::Named(0x93ab),
        })),
        kmc: None,
        machine: None,
        system: Some(System {
            id: 0x5be2,
            queues: vec![],
        }),
    };
    let player = Proof {
        kmc: None,
        machine: None,
        system: Some(System {
            id: 0x5be2,
            queues: vec![
                queue(0, "s", Capacity::AtMost(2)),
                queue(1, "t", Capacity::Growable),
                queue(3, "u", Capacity::Waits(16)),
            ],
        }),
        ..Proof::default()
    };
    let choice = Proof {
        plays: None,
        id: Some(3),
        body: Some(Body::Choice(vec![
            (
                "Stop".to_owned(),
                Chain {
                    actions: vec![],
                    tail: Tail::End,
                },
            ),
            (
                "Go\ton".to_owned(),
                Chain {
                    actions: vec![Action {
                        direction: Direction::Receive,
                        ..send("s", "end")
                    }],
                    tail: Tail::Choice {
                        direction: Direction::Receive,
                        peer: role("t"),
                        id: u64::MAX,
                    },
                },
            ),
        ])),
        kmc: None,
        machine: None,
        system: None,
    };
    Verdicts {
        entries: vec![
            entry(
                "Kernel",
                BIN,
                "src/main.rs",
                27,
                Outcome::FailedElsewhere(kernel),
            ),
            entry("Choice", LIB, "src/lib.rs", 3, Outcome::Passed(choice)),
            entry(
                "KernelLoop",
                BIN,
                "src/main.rs",
                30,
                failed(21, "unsafe:\n\tat \\ “here”\r\n"),
            ),
            Entry {
                kind: Kind::Role,
                ..entry("K", BIN, "src/main.rs", 1, Outcome::Passed(player))
            },
        ],
        generated: vec![],
        unanchored: vec!["first\nline".to_owned()],
    }
}

#[test]
fn what_is_printed_is_what_is_parsed() {
    let verdicts = sample();
    let text = verdicts.print();
    assert_eq!(Verdicts::parse(&text), Ok(verdicts));
    assert!(text.starts_with(&format!("rumpsteak-verdicts\t2\t{VERSION}\n")));
    assert!(text.ends_with("\nend\n"));
    assert!(text.contains(
        "system\t0000000000005be2\n\
         queue\t0\ts\tat-most\t2\nqueue\t1\tt\tgrowable\nqueue\t3\tu\twaits\t16\n"
    ));
    assert_eq!(
        Verdicts::parse(&Verdicts::default().print()),
        Ok(Verdicts::default())
    );
}

#[test]
fn another_version_is_refused_by_name() {
    let text = sample().print().replacen(VERSION, "99.0.0", 1);
    let error = Verdicts::parse(&text).unwrap_err();
    assert_eq!(
        error,
        ParseError::Version {
            found: "99.0.0".to_owned()
        }
    );
    assert!(error.to_string().contains("use the same version of both"));
}

#[test]
fn no_damaged_file_is_accepted() {
    let text = sample().print();
    for end in (0..text.len() - 1).filter(|&end| text.is_char_boundary(end)) {
        assert!(Verdicts::parse(&text[..end]).is_err(), "cut at {end}");
    }
    for (from, to) in [
        ("passed", "certainly"),
        ("feed", "need"),
        ("\tbin\t", "\tbun\t"),
        ("plays", "might play"),
        ("chain\t!", "chain\t="),
        ("\t27\t", "\tx\t"),
        ("\nproblem\t21", "\nproblem\t-1"),
        ("\nend\n", "\nend\nend\n"),
        ("system\t", "system\tno"),
        ("at-most\t2", "at-most\t-2"),
        ("at-most\t2", "at-most"),
        ("growable", "growable\t1"),
        ("waits", "hopes"),
        ("queue\t0", "queue\tx"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(
            Verdicts::parse(&text.replacen(from, to, 1)).is_err(),
            "{from}"
        );
    }
    let silent: String = text
        .lines()
        .filter(|line| !line.starts_with("problem"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(
        Verdicts::parse(&silent).is_err(),
        "a failure without a problem would be silent"
    );
}

#[test]
fn an_entry_is_found_by_kind_name_and_hash_only() {
    let verdicts = sample();
    let site = Site::default();
    assert!(
        verdicts
            .find(Kind::Session, "Kernel", 0xfeed, &site)
            .is_some()
    );
    assert!(
        verdicts
            .find(Kind::Session, "Kernel", 0xfeee, &site)
            .is_none()
    );
    assert!(verdicts.find(Kind::Session, "K", 0xfeed, &site).is_none());
    assert!(verdicts.find(Kind::Role, "K", 0xfeed, &site).is_some());
}

#[test]
fn the_place_decides_between_equal_tokens() {
    let verdicts = Verdicts {
        entries: vec![
            entry("A", LIB, "src/a.rs", 3, failed(1, "one")),
            entry("A", LIB, "src/b.rs", 3, passed()),
            entry("A", BIN, "src/b.rs", 3, failed(1, "two")),
            entry("A", LIB, "src/b.rs", 9, failed(1, "three")),
        ],
        generated: vec![],
        unanchored: vec![],
    };
    let at = |executable, file, line| {
        let site = Site {
            crate_name: Some("my_app"),
            executable,
            file,
            line,
        };
        match &verdicts
            .find(Kind::Session, "A", 0xfeed, &site)
            .unwrap()
            .outcome
        {
            Outcome::Failed { problems, .. } => problems[0].text.clone(),
            _ => "passed".to_owned(),
        }
    };
    assert_eq!(at(false, Some("crates/app/src/a.rs"), Some(3)), "one");
    assert_eq!(at(false, Some("crates/app/src/b.rs"), Some(3)), "passed");
    assert_eq!(at(true, Some("crates/app/src/b.rs"), Some(3)), "two");
    assert_eq!(at(false, Some("/abs/app/src/b.rs"), Some(9)), "three");
    // Without a place, only the target decides; under rust-analyzer nothing is refused that may be right.
    assert_eq!(at(false, None, None), "passed");
    assert_eq!(at(true, None, None), "two");
    // `notsrc/a.rs` does not end in the components of `src/a.rs`.
    assert_eq!(at(false, Some("notsrc/a.rs"), Some(3)), "passed");
}
