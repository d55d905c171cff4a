//! `kmc`.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{Folder, begins, ends, says};
use rumpsteak_oracle::corpus;
use serde_json::{Value, json};

const PING: &str = "A: rec x . B!ping; B?pong; x\nB: rec x . A?ping; A!pong; x\n";
/// Both wait.
const DEADLOCK: &str = "A: B?x; B!y; end\nB: A?y; A!x; end\n";
/// Two sends ahead, so that one place in the queue is not enough to see the end.
const TWO_AHEAD: &str = "A: B!x; B!x; B?y; end\nB: A!y; A?x; A?x; end\n";
/// `A` sends for ever, `B` takes.
const STREAM: &str = "A: rec x . B!v; x\nB: rec x . A?v; x\n";

#[test]
fn a_safe_system_names_its_least_bound_and_every_property() {
    let folder = Folder::new("kmc_safe").with("ping.txt", PING);
    let run = folder.call("kmc ping.txt").exits(0).says("");
    begins(&run.stdout, "the system of `A` and `B` is safe: 1-MC\nat k = 1, ");
    for property in [
        "CSA",
        "deterministic",
        "directed",
        "k-exhaustive",
        "k-safe",
        "  progress",
        "  reception",
        "k-OBI",
        "k-IBI",
        "k-SIBI",
        "k-CIBI",
    ] {
        says(&run.stdout, &format!("  {property:<14} yes\n"));
    }
}

#[test]
fn json_carries_every_property() {
    let folder = Folder::new("kmc_json").with("ping.txt", PING);
    let object = folder.call("kmc ping.txt --format json").exits(0).json();
    assert_eq!(object["verdict"], "safe");
    assert_eq!((&object["bound"], &object["k"]), (&json!(1), &json!(1)));
    assert_eq!(
        object["properties"],
        json!({
            "csa": true, "deterministic": true, "directed": true, "k_exhaustive": true, "k_safe": true,
            "progress": true, "reception": true, "obi": true, "ibi": true, "sibi": true, "cibi": true,
        })
    );
    assert_eq!(object["witnesses"], json!({}));
    assert_eq!(
        object["channels"],
        json!([
            {"from": "A", "to": "B", "capacity": 1, "occupancy": 1},
            {"from": "B", "to": "A", "capacity": 1, "occupancy": 1},
        ])
    );
    assert_eq!(object["minimal"], true);
}

#[test]
fn channels_have_capacities_and_occupancies() {
    let folder = Folder::new("kmc_channels")
        .with("ahead.txt", TWO_AHEAD)
        .with("once.txt", "A: B!x; B!x; end\nB: A?x; A?x; end\n");
    let run = folder.call("kmc once.txt").exits(0);
    ends(
        &run.stdout,
        "channels, with the least capacities that are enough:\n  \
               A to B: capacity 1, holds at most 2 messages\n",
    );
    // Session after session, A may be any number of sessions ahead.
    let run = folder.call("kmc once.txt --repeated").exits(0);
    ends(&run.stdout, "  A to B: capacity 1, may hold any number of messages\n");
    let object = folder.call("kmc once.txt --repeated --format json").exits(0).json();
    assert_eq!(object["channels"][0]["occupancy"], "unbounded");
}

#[test]
fn an_unsafe_system_shows_its_run_and_where_the_roles_wait() {
    let folder = Folder::new("kmc_unsafe").with("deadlock.txt", DEADLOCK);
    let run = folder.call("kmc deadlock.txt").exits(1).says("");
    begins(&run.stdout, "error: the system is not safe: nobody can move\n --> deadlock.txt:1:4\n");
    says(&run.stdout, "`A` waits for `B?x`");
    says(&run.stdout, "`B` waits for `A?y`");

    let object = folder.call("kmc deadlock.txt --format json").exits(1).json();
    assert_eq!(object["verdict"], "unsafe");
    assert_eq!(object["reason"], "nobody can move");
    assert_eq!(object["run"], json!([]), "it is so from the start");
    assert_eq!(
        object["end"]["waits"],
        json!([{"role": "A", "for": ["B?x"]}, {"role": "B", "for": ["A?y"]}])
    );
}

#[test]
fn queues_that_grow_for_ever_are_no_obstacle() {
    let folder = Folder::new("kmc_stream").with("stream.txt", STREAM);
    folder.call("kmc stream.txt").exits(0);
}

#[test]
fn a_bound_shows_the_properties_there() {
    let folder = Folder::new("kmc_bound").with("ahead.txt", TWO_AHEAD);
    let at = |k: &str| folder.run(["kmc", "ahead.txt", "-k", k, "--format=json"]).exits(0).json();
    for k in [1, 2, 3] {
        let object = at(&k.to_string());
        assert_eq!(object["k"], k);
        assert_eq!(object["properties"]["k_exhaustive"], true);
    }
    let run = folder.call("kmc ahead.txt -k 0").exits(2);
    says(&run.stderr, "a queue holds at least 1 message");
    folder.call("kmc ahead.txt -k 1 --max-k 2").exits(2);
    folder.call("kmc ahead.txt --unreduced").exits(2);
    folder.call("kmc ahead.txt -k 2 --unreduced").exits(0);
}

#[test]
fn a_limit_is_named_with_its_option() {
    let folder = Folder::new("kmc_limit").with("ping.txt", PING);
    let run = folder.call("kmc ping.txt --configurations 1").exits(3).says("");
    begins(&run.stdout, "error: undecided whether the system is safe: ");
    says(&run.stdout, "help: raise the limit with `--configurations`\n");
    let object = folder.call("kmc ping.txt --configurations 1 --format json").exits(3).json();
    assert_eq!(object["limit"], json!({"setting": "configurations", "value": 1}));
    assert_eq!(object["properties"]["k_safe"], Value::Null);
}

#[test]
fn a_system_may_be_in_several_files_and_forms() {
    let folder = Folder::new("kmc_files")
        .with("a.dot", "digraph A { 0 -> 1 [label=\"B!ping\"]; 1 -> 0 [label=\"B?pong\"]; }")
        .with("b.txt", "B: rec x . A?ping; A!pong; x");
    folder.call("kmc a.dot b.txt").exits(0);
    folder.run_with_input(["kmc", "-", "b.txt"], "A: rec x . B!ping; B?pong; x").exits(0);
}

#[test]
fn what_makes_no_system_is_bad_input() {
    let folder = Folder::new("kmc_no_system")
        .with("a.txt", "A: B!x; end\n")
        .with("self.txt", "A: A!x; end\n");
    folder.call("kmc a.txt").exits(2).prints("").says(
        "error: `A` talks to `B`, which has no machine\n \
         --> a.txt:1:4\n  \
           |\n\
         1 | A: B!x; end\n  \
           |    ^^^ to nobody\n  \
           |\n  \
           = help: add it to the system\n\n",
    );
    let run = folder.call("kmc a.txt a.txt").exits(2);
    begins(&run.stderr, "error: there are two machines of `A`\n");
    let run = folder.call("kmc self.txt").exits(2);
    says(&run.stderr, " --> self.txt:1:4\n");
    folder.call("kmc").exits(2);
}

/// The values that were computed on the unreduced system, by the field's own tool.
#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_corpus_has_its_properties() {
    let kmc = corpus("kmc");
    let folder = Folder::new("kmc_corpus");
    let table = fs::read_to_string(kmc.join("expected.csv")).unwrap();
    let mut lines = table.lines();
    let columns: BTreeMap<&str, usize> = lines.next().unwrap().split(',').zip(0..).collect();

    let mut count = 0;
    let mut wrong = vec![];
    for line in lines {
        let row: Vec<&str> = line.split(',').collect();
        let value = |column: &str| row[columns[column]];
        if value("transition_system") != "full" {
            continue;
        }
        count += 1;
        let file = kmc.join(value("file"));
        let arguments = [
            "kmc".as_ref(),
            file.as_os_str(),
            "-k".as_ref(),
            value("k").as_ref(),
            "--format=json".as_ref(),
        ];
        let object = folder.run(arguments).json();
        for column in ["csa", "directed", "k_exhaustive", "k_safe"] {
            // That tool prints nothing for what is not directed.
            let expected = value(column) == "True";
            if object["properties"][column] != expected {
                wrong.push(format!("{line}: {column} is {}", object["properties"][column]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 200, "only {count} rows");
}

/// A Scribble file stands for the projections of its protocol.
#[test]
fn the_projections_of_a_protocol_are_judged() {
    let ring = "\
global protocol Ring(role a, role b, role c) {
  rec lap { value(i32) from a to b; value(i32) from b to c; value(i32) from c to a; continue lap; }
}
";
    let other = "global protocol Other(role a, role b) { x() from a to b; }\n";
    let folder = Folder::new("kmc_scribble")
        .with("ring.scr", ring)
        .with("two.scr", format!("{ring}{other}"))
        .with("broken.scr", ring.replace("from c", "form c"));
    let run = folder.call("kmc ring.scr").exits(0).says("");
    let of_machines =
        folder.run_with_input(["kmc", "-"], &folder.call("project ring.scr").exits(0).stdout);
    assert_eq!(run.stdout, of_machines.exits(0).stdout);
    folder.run_with_input(["kmc", "-"], ring).exits(0);

    folder.call("kmc two.scr").exits(2).prints("").says(
        "error: `two.scr` holds several protocols\nhelp: say which one with `--protocol`: `Ring` and `Other`\n\n",
    );
    folder.call("kmc two.scr --protocol Other").exits(0);
    let run = folder.call("kmc broken.scr").exits(2).prints("");
    begins(&run.stderr, "error[S0104]: expected `from`, found `form`\n --> broken.scr:2:");
    says(&run.stderr, "error: `broken.scr` has errors\n");
}
