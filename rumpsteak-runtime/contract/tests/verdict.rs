//! The verdict file: what is written is what is read, and nothing else is.

use rumpsteak_contract::verdict::{
    Action, Body, Capacity, Chain, Direction, Entry, Generated, Kind, Machine, Outcome, ParseError,
    Problem, Proof, Queue, RoleName, Site, System, Tail, Target, TargetKind, Transition,
    Unreadable, Verdicts,
};

const VERSION: &str = "0.1.0";

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
        kmc: Some(12),
        machine: Some(Machine {
            role: "k".to_owned(),
            states: 2,
            initial: 1,
            transitions: vec![Transition {
                source: 1,
                direction: Direction::Receive,
                peer: "s".to_owned(),
                label: "Value".to_owned(),
                payload: vec!["i32".to_owned(), "Vec<u8>".to_owned()],
                target: 0,
            }],
        }),
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
        version: VERSION.to_owned(),
        generated: vec![Generated {
            protocol: "DoubleBuffering".to_owned(),
            file: "rumpsteak/double_buffering.rs".to_owned(),
            stamp: "00ff".to_owned(),
        }],
        unanchored: vec!["first\nline".to_owned()],
        unreadable: vec![Unreadable {
            file: "src/half.rs".to_owned(),
            byte: 7,
            line: 2,
        }],
    }
}

#[test]
fn what_is_printed_is_what_is_parsed() {
    let verdicts = sample();
    let text = verdicts.print().unwrap();
    assert_eq!(text, sample().print().unwrap());
    assert_eq!(Verdicts::parse(&text, VERSION), Ok(verdicts));
}

#[test]
fn another_version_is_refused_by_name() {
    // Of another version, nothing but the version need be as it is here.
    for text in [
        sample().print().unwrap().replacen(VERSION, "99.0.0", 1),
        "{\"version\": \"99.0.0\", \"news\": []}".to_owned(),
    ] {
        let error = Verdicts::parse(&text, VERSION).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the verdicts were written by rumpsteak-build 99.0.0, but this is rumpsteak-runtime 0.1.0: \
             use the same version of both"
        );
    }
}

#[test]
fn no_damaged_file_is_accepted() {
    let text = sample().print().unwrap();
    let parse = |text: &str| Verdicts::parse(text, VERSION);
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        assert!(parse(&text[..end]).is_err(), "cut at {end}");
    }
    for (from, to) in [
        ("passed", "certainly"),
        ("\"bin\"", "\"bun\""),
        ("plays", "might play"),
        ("\"!\"", "\"=\""),
        (":27,", ":-27,"),
        ("at-most", "hopes"),
        ("unreadable", "unknown"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(parse(&text.replacen(from, to, 1)).is_err(), "{from}");
    }
    let mut silent = sample();
    for entry in &mut silent.entries {
        if let Outcome::Failed { problems, .. } = &mut entry.outcome {
            problems.clear();
        }
    }
    let error = parse(&silent.print().unwrap()).unwrap_err();
    let problem = "`KernelLoop` failed without a problem".to_owned();
    assert_eq!(error, ParseError::Malformed(problem));
}

#[test]
fn an_unreadable_file_is_found_by_its_path() {
    let verdicts = sample();
    let line = |file| verdicts.unreadable(file).map(|unreadable| unreadable.line);
    assert_eq!(line("crates/app/src/half.rs"), Some(2));
    assert_eq!(line("src/whole.rs"), None);
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
        ..Verdicts::default()
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
    // Without a place, only the target decides; under rust-analyzer nothing is refused that may be
    // right.
    assert_eq!(at(false, None, None), "passed");
    assert_eq!(at(true, None, None), "two");
    // `notsrc/a.rs` does not end in the components of `src/a.rs`.
    assert_eq!(at(false, Some("notsrc/a.rs"), Some(3)), "passed");
}
