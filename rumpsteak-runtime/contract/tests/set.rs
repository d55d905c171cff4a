//! `#[derive(Roles)]` with `#[system(kmc)]`, and what the verdicts say of its sessions.

use rumpsteak_contract::SetItem;
use rumpsteak_contract::lex::lex;
use rumpsteak_contract::verdict::{
    Direction, Entry, Kind, Machine, Outcome, Proof, RoleName, Target, TargetKind, Transition,
    Verdicts,
};

fn parse(item: &str) -> rumpsteak_contract::Result<Option<SetItem>> {
    SetItem::parse(&lex(item).unwrap_or_default())
}

#[test]
fn the_roles_of_a_set() {
    for item in [
        "#[system(kmc)] pub struct Roles { pub s: S, k: a::K }",
        "/// x\n#[system(kmc)] struct Roles(S, pub a::K);",
    ] {
        let set = parse(item).unwrap_or_else(|error| panic!("{error}"));
        let Some(set) = set else { panic!("no set") };
        let roles: Vec<String> = set.roles.iter().map(ToString::to_string).collect();
        assert_eq!(
            (set.name.as_str(), roles.join(" ").as_str()),
            ("Roles", "S a::K")
        );
    }
    let without = parse("#[other] struct Roles { s: S }");
    assert!(matches!(without, Ok(None)));
}

#[test]
fn what_is_no_set() {
    for (item, expected) in [
        (
            "#[system] struct R { s: S }",
            "`system` takes an argument: `#[system(…)]`",
        ),
        (
            "#[system(luck)] struct R { s: S }",
            "expected how the set is verified: `#[system(kmc)]`",
        ),
        (
            "#[system(kmc)] #[system(kmc)] struct R { s: S }",
            "`#[system(…)]` stands here twice",
        ),
        ("#[system(kmc)] enum R {}", "a set of roles is a struct"),
        (
            "#[system(kmc)] struct R { s: Option<S> }",
            "expected `,` or the end of the set",
        ),
    ] {
        let Err(error) = parse(item) else {
            panic!("{item}")
        };
        assert!(error.to_string().contains(expected), "{item}: {error}");
    }
}

#[test]
fn the_bound_is_read_as_it_was_written() {
    let entry = |kind, name: &str, outcome| Entry {
        kind,
        name: name.to_owned(),
        hash: 1,
        target: Target {
            kind: TargetKind::Lib,
            name: "app".to_owned(),
        },
        file: "src/lib.rs".to_owned(),
        line: 1,
        outcome,
    };
    let proof = Proof {
        plays: Some(RoleName {
            protocol: "lib app: ::Roles".to_owned(),
            role: "K".to_owned(),
        }),
        kmc: Some(12),
        machine: Some(Machine {
            role: "K".to_owned(),
            states: 2,
            initial: 1,
            transitions: vec![
                Transition {
                    source: 1,
                    direction: Direction::Receive,
                    peer: "S".to_owned(),
                    label: "Value".to_owned(),
                    payload: vec!["i32".to_owned(), "Vec<u8>".to_owned()],
                    target: 0,
                },
                Transition {
                    source: 0,
                    direction: Direction::Send,
                    peer: "S".to_owned(),
                    label: "Ready".to_owned(),
                    payload: vec![],
                    target: 1,
                },
            ],
        }),
        ..Proof::default()
    };
    let verdicts = Verdicts {
        entries: vec![
            entry(Kind::Set, "Roles", Outcome::Passed(Proof::default())),
            entry(Kind::Session, "Kernel", Outcome::Passed(proof)),
        ],
        ..Verdicts::default()
    };
    let text = verdicts.print();
    assert!(text.contains("\nentry\tset\tRoles\t"), "{text}");
    assert!(text.contains("\nkmc\t12\n"), "{text}");
    assert!(
        text.contains(
            "\nmachine\tK\t2\t1\nstep\t1\t0\t?\tS\tValue\ti32\tVec<u8>\nstep\t0\t1\t!\tS\tReady\n"
        ),
        "{text}"
    );
    assert_eq!(Verdicts::parse(&text), Ok(verdicts));
}
