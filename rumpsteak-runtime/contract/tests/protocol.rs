//! `protocol!(…)`: its arguments, and the generated files in the verdicts.

use rumpsteak_contract::ProtocolItem;
use rumpsteak_contract::lex::lex;
use rumpsteak_contract::verdict::{
    Entry, Generated, Kind, Outcome, Proof, Site, Target, TargetKind, Verdicts,
};

fn parse(arguments: &str) -> ProtocolItem {
    ProtocolItem::parse(&lex(arguments).unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_name_with_a_visibility_and_attributes() {
    let plain = parse("DoubleBuffering");
    assert_eq!(
        (plain.module().as_str(), plain.is_public),
        ("double_buffering", false)
    );
    assert_eq!(plain.name_token, 0);

    let public = parse("#[doc = \"text\"] pub(crate) DoubleBuffering");
    assert!(public.is_public);
    assert_eq!(public.name_token, 4);
    assert_ne!(plain.hash(), public.hash());
}

#[test]
fn anything_else_is_refused_with_an_example() {
    for arguments in ["", "A, B", "\"A\"", "a::B"] {
        let error = ProtocolItem::parse(&lex(arguments).unwrap_or_default())
            .map(|item| item.name.to_string());
        let error = error.map_err(|error| error.to_string());
        assert!(
            matches!(&error, Err(text) if text.contains("`protocol!(DoubleBuffering);`")),
            "{arguments}: {error:?}"
        );
    }
}

#[test]
fn generated_files_are_read_as_they_were_written() {
    let item = parse("DoubleBuffering");
    let verdicts = Verdicts {
        entries: vec![Entry {
            kind: Kind::Protocol,
            name: item.name.to_string(),
            hash: item.hash(),
            target: Target {
                kind: TargetKind::Lib,
                name: "app".to_owned(),
            },
            file: "src/lib.rs".to_owned(),
            line: 3,
            outcome: Outcome::Passed(Proof::default()),
        }],
        generated: vec![Generated {
            protocol: "DoubleBuffering".to_owned(),
            file: "rumpsteak/double_buffering.rs".to_owned(),
            stamp: "00ff".to_owned(),
        }],
        ..Verdicts::default()
    };
    let text = verdicts.print();
    assert!(
        text.contains("\ngenerated\tDoubleBuffering\trumpsteak/double_buffering.rs\t00ff\n"),
        "{text}"
    );
    let read = Verdicts::parse(&text);
    assert_eq!(read.as_ref(), Ok(&verdicts));
    let found = verdicts.find(
        Kind::Protocol,
        "DoubleBuffering",
        item.hash(),
        &Site::default(),
    );
    assert_eq!(found, verdicts.entries.first());
    assert_eq!(
        verdicts.find(Kind::Role, "DoubleBuffering", item.hash(), &Site::default()),
        None
    );
}
