//! The cases of `corpora/pairs` and `corpora/binary` through the command.

use std::fs;

use crate::common::Folder;
use rumpsteak_oracle::corpus;

/// The exit statuses that an expected verdict allows.
///
/// `not-or-undecided` marks the machines whose pending messages grow for ever. `sub-starves` is a
/// subtype beside which a third role may wait for ever, which only the check of a system sees.
fn allowed(expected: &str) -> &'static [i32] {
    match expected {
        "sub" | "sub-starves" => &[0],
        "not" => &[1],
        "bad-input" => &[2],
        "not-or-undecided" => &[1, 3],
        other => panic!("unknown expectation `{other}`"),
    }
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn every_pair_has_its_exit_status() {
    let pairs = corpus("pairs");
    let folder = Folder::new("pairs");
    let table = fs::read_to_string(pairs.join("expected.csv")).unwrap();
    let rows = table.lines().skip(1).filter(|line| !line.is_empty());

    let mut wrong = vec![];
    let mut count = 0;
    for row in rows {
        count += 1;
        let (name, expected) = row.split_once(',').unwrap();
        let sub = pairs.join(format!("{name}.sub.dot"));
        let sup = pairs.join(format!("{name}.sup.dot"));

        let run = folder.run(["subtype".as_ref(), sub.as_path(), &sup]);
        let status = run.status.unwrap();
        if !allowed(expected).contains(&status) {
            wrong.push(format!("{name}: {expected}, but {run:?}"));
        }

        // The same with --format json, whose verdict agrees with the status.
        let json = folder.run(["subtype".as_ref(), sub.as_path(), &sup, "--format=json".as_ref()]);
        let verdict = match status {
            0 => "safe".into(),
            1 => "unsafe".into(),
            3 => "undecided".into(),
            _ => serde_json::Value::Null,
        };
        assert_eq!(json.status, Some(status), "{name}");
        assert_eq!(json.json()["verdict"], verdict, "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 27, "only {count} rows");
}

/// Pairs of binary types, which the content tells from DOT. In some subtypings, messages pile up
/// without a bound.
#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn pairs_of_binary_types_get_the_right_answer() {
    let binary = corpus("binary");
    let folder = Folder::new("binary");
    let table = fs::read_to_string(binary.join("expected.csv")).unwrap();
    let mut rows = 0;
    for row in table.lines().skip(1).filter(|line| !line.is_empty()) {
        let columns: Vec<&str> = row.split(',').collect();
        let (sub, sup) = (binary.join(columns[0]), binary.join(columns[1]));
        let run = folder.run(["subtype".as_ref(), sub.as_path(), &sup, "--steps=50000".as_ref()]);
        let right = match columns[2] {
            "sub" => 0,
            "not sub" => 1,
            other => panic!("unknown expectation `{other}`"),
        };
        assert_eq!(run.status.unwrap(), right, "{row}: {run:?}");
        rows += 1;
    }
    assert_eq!(rows, 94);
}
