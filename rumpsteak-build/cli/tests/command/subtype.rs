//! `subtype`.

use crate::common::{DOUBLE_BUFFERING, Folder, begins, ends, says};
use serde_json::{Value, json};

/// The kernel of double buffering as in the protocol, and one that asks for a value ahead.
const KERNEL: &str = "k: rec x . s!ready; s?value<i32>; t?ready; t!value<i32>; x\n";
const AHEAD: &str = "k: s!ready; rec x . s!ready; s?value<i32>; t?ready; t!value<i32>; x\n";
/// The kernel that waits for its sink's request after it has sent the value.
const EAGER: &str = "k: rec x . s!ready; s?value<i32>; t!value<i32>; t?ready; x\n";
/// The kernel that waits for a value before it asks for it.
const STUCK: &str = "k: rec x . s?value<i32>; s!ready; t?ready; t!value<i32>; x\n";

fn folder(test: &str) -> Folder {
    Folder::new(test)
        .with("kernel.txt", KERNEL)
        .with("ahead.txt", AHEAD)
        .with("eager.txt", EAGER)
        .with("stuck.txt", STUCK)
        .with("double_buffering.scr", DOUBLE_BUFFERING)
}

#[test]
fn a_subtype_says_what_was_compared() {
    folder("subtype_holds").call("subtype ahead.txt kernel.txt").exits(0).says("").prints(
        "`ahead.txt` may take the place of `kernel.txt`: 2 situations compared, at most 3 actions pending\n",
    );
    folder("subtype_equal").call("subtype kernel.txt kernel.txt").exits(0).says("").prints(
        "`kernel.txt` may take the place of `kernel.txt`: 1 situation compared, nothing is done early\n",
    );
}

#[test]
fn a_refusal_shows_the_two_actions_in_both_files() {
    folder("subtype_refused").call("subtype stuck.txt kernel.txt").exits(1).says("").prints(
        "error[V0407]: `stuck.txt` may not take the place of `kernel.txt`: it receives `value(i32)` from `s` before it sends `ready` to `s`\n \
         --> stuck.txt:1:12\n  \
         |\n\
         1 | k: rec x . s?value<i32>; s!ready; t?ready; t!value<i32>; x\n  \
         |            ^^^^^^^ here\n  \
         |\n \
         ::: kernel.txt:1:12\n  \
         |\n\
         1 | k: rec x . s!ready; s?value<i32>; t?ready; t!value<i32>; x\n  \
         |            -------  ------- … and receive this afterwards\n  \
         |            |\n  \
         |            `kernel.txt` has `k` send this first …\n  \
         |\n  \
         = help: send `ready` to `s` before this; a send may move ahead of a receive, never a receive ahead of a send\n\n",
    );
}

#[test]
fn json_of_a_subtype() {
    let object = folder("subtype_json_holds")
        .call("subtype ahead.txt kernel.txt --format json")
        .exits(0)
        .json();
    assert_eq!(
        object,
        json!({
            "verdict": "safe", "bound": 3, "limit": null, "run": null, "reason": null,
            "situations": 2, "starvation": null, "liveness": "every-run",
        })
    );
}

#[test]
fn json_of_a_refusal() {
    let object =
        folder("subtype_json").call("subtype stuck.txt kernel.txt --format json").exits(1).json();
    assert_eq!(object["verdict"], "unsafe");
    assert_eq!(
        object["reason"],
        "it receives `value(i32)` from `s` before it sends `ready` to `s`"
    );
    assert_eq!(object["run"], json!([]), "it is the first action that is wrong");
    assert_eq!(
        object["refusal"],
        json!({
            "rule": "input-before-output",
            "sub": {"action": "s?value(i32)", "peer": "s", "direction": "receive", "label": "value", "payload": ["i32"]},
            "sub_state": 0,
            "sup": {"action": "s!ready", "peer": "s", "direction": "send", "label": "ready", "payload": []},
            "sup_state": 0,
            "cycle": [],
        })
    );
    assert_eq!(object["system"], Value::Null, "there are no peers");
}

#[test]
fn json_of_an_undecided_pair() {
    let object = folder("subtype_json_undecided")
        .call("subtype ahead.txt kernel.txt --bound 2 --format json")
        .exits(3)
        .json();
    assert_eq!(object["verdict"], "undecided");
    assert_eq!(object["limit"], json!({"setting": "anticipation", "value": 2}));
    assert_eq!(object["reason"], "more than 2 actions would be pending (limit `anticipation`)");
}

#[test]
fn a_limit_is_named_with_its_option() {
    let folder = folder("subtype_limit");
    folder.call("subtype ahead.txt kernel.txt --bound 2").exits(3).says("").prints(
        "error: undecided whether `ahead.txt` may take the place of `kernel.txt`: \
             more than 2 actions would be pending (limit `anticipation`)\n\
             help: raise the limit with `--bound`\n\n",
    );
    let run = folder.call("subtype ahead.txt kernel.txt --steps 3").exits(3);
    says(&run.stdout, "help: raise the limit with `--steps`");
    let run = folder.call("subtype ahead.txt kernel.txt --bound many").exits(2);
    says(&run.stderr, "invalid value 'many' for '--bound <N>'");
}

/// `project` writes a system, against which one role is compared: the two verbs fit together.
#[test]
fn among_its_peers_a_refusal_shows_the_shortest_bad_run() {
    let folder = folder("subtype_system");
    let system = folder.call("project double_buffering.scr").exits(0).stdout;
    let with_system = |sub: &str, more: &[&str]| {
        let mut arguments = vec!["subtype", sub, "-", "--role", "k"];
        arguments.extend(more);
        folder.run_with_input(arguments, &system)
    };

    with_system("ahead.txt", &[]).exits(0).says("").prints(
        "`ahead.txt` may take the place of `<stdin>`: 2 situations compared, at most 3 actions pending\n",
    );

    let run = with_system("stuck.txt", &[]).exits(1);
    says(&run.stdout, " --> stuck.txt:1:12\n");
    says(&run.stdout, " ::: <stdin>:");
    says(&run.stdout, "among these peers, no role can move; the shortest run that leads there:\n");
    says(&run.stdout, "k waits for value(i32) from s\n");

    let object = with_system("stuck.txt", &["--format", "json"]).exits(1).json();
    assert_eq!(object["system"]["end"]["failure"], "no role can move");
    let waits = object["system"]["end"]["waits"].as_array().unwrap();
    assert!(waits.contains(&json!({"role": "k", "for": ["s?value(i32)"]})), "{waits:?}");
}

#[test]
fn a_role_that_starves_is_noted() {
    // `A` may tell `B` to stop and never does; `C` waits for the end.
    let system = "\
A: rec x . {B!go; B?ok; x, B!stop; end}
B: rec x . {A?go; A!ok; x, A?stop; C!bye; end}
C: B?bye; end
";
    let folder = Folder::new("subtype_starves")
        .with("system.txt", system)
        .with("never.txt", "A: rec x . B!go; B?ok; x\n");
    let run = folder.call("subtype never.txt system.txt --role A").exits(0);
    begins(&run.stderr, "note: among these peers, C waits for ever\n");
    begins(&run.stdout, "`never.txt` may take the place of `system.txt`: ");
    let object = folder.call("subtype never.txt system.txt --role A --format json").exits(0).json();
    assert_eq!(object["starvation"]["end"]["failure"], "C waits for ever");

    // Without its peers it is a subtype, and nothing is known of `C`.
    let folder = folder.with("alone.txt", "A: rec x . {B!go; B?ok; x, B!stop; end}\n");
    folder.call("subtype never.txt alone.txt").exits(0).says("");
}

#[test]
fn a_refusal_that_these_peers_survive_says_so() {
    // `A` has exchanged two sends, and `B` waits for neither of them before it sends.
    let system = "A: B!x; B!y; end\nB: A?x; A?y; end\n";
    let folder = Folder::new("subtype_survives")
        .with("system.txt", system)
        .with("less.txt", "A: B!x; end\n");
    let run = folder.call("subtype less.txt system.txt --role A").exits(1);
    says(&run.stdout, "among these peers, no role can move");

    let tolerant = "A: B!x; B!y; end\nB: {A?x; {A?x; end, A?y; end}, A?y; {A?x; end, A?y; end}}\n";
    let folder = folder.with("tolerant.txt", tolerant).with("swapped.txt", "A: B!y; B!x; end\n");
    let run = folder.call("subtype swapped.txt tolerant.txt --role A").exits(1);
    says(&run.stdout, "= note: among these very peers nothing goes wrong; ");
}

#[test]
fn several_machines_need_a_role() {
    let two = "digraph a { 0 -> 1 [label=\"b!x\"] }\ndigraph b { 0 -> 1 [label=\"a?x\"] }\n";
    let folder = Folder::new("subtype_role").with("two.dot", two);
    folder.call("subtype two.dot two.dot").exits(2).prints("").says(
        "error: `two.dot` holds 2 machines, and two are compared at a time\n\
         help: say which one with `--role`: `a` and `b`\n\n",
    );
    folder.call("subtype two.dot two.dot --role a").exits(0);
    folder
        .call("subtype two.dot two.dot --role c")
        .exits(2)
        .says("error: `two.dot` holds no machine of `c`\nhelp: it holds `a` and `b`\n\n");
}

#[test]
fn machines_of_different_roles_are_noted() {
    let folder = Folder::new("subtype_names")
        .with("a.dot", "digraph a { 0 -> 1 [label=\"p!x\"] }")
        .with("b.dot", "digraph b { 0 -> 1 [label=\"p!x\"] }");
    folder.call("subtype a.dot b.dot").exits(0).says(
        "note: SUB is a machine of `a` and SUP one of `b`; only the names of their peers are compared\n\n",
    );
}

#[test]
fn forms_may_be_mixed() {
    let folder = Folder::new("subtype_forms")
        .with("a.dot", "digraph a { 0 -> 1 [label=\"b!x(i32)\"] }")
        .with("a.txt", "a: b!x<i32>; end")
        .with("sub.txt", "rec X . !ask; ?answer; X")
        .with("sup.txt", "rec X . &[?answer; !ask; X]");
    folder.call("subtype a.dot a.txt").exits(0);
    folder.call("subtype a.txt a.dot").exits(0);
    folder.call("subtype sub.txt sup.txt").exits(0);
    folder.call("subtype sup.txt sub.txt").exits(1);
}

#[test]
fn a_syntax_error_says_which_form_was_read() {
    let folder =
        Folder::new("subtype_syntax").with("bad.dot", "digraph a {\n  0 -> 1 [label=\"x\"];\n}\n");
    let run = folder.call("subtype bad.dot bad.dot").exits(2).prints("");
    says(&run.stderr, " --> bad.dot:2:");
    says(&run.stderr, "= note: it begins as DOT, so it is read as that\n");
}

#[test]
fn a_protocol_is_the_system_of_its_projections() {
    let folder = folder("subtype_scribble");
    folder
        .call("subtype ahead.txt double_buffering.scr --role k")
        .exits(0)
        .says("")
        .prints(
            "`ahead.txt` may take the place of `double_buffering.scr`: 2 situations compared, at most 3 actions pending\n",
        );
    let run = folder.call("subtype stuck.txt double_buffering.scr --role k").exits(1);
    says(&run.stdout, " ::: double_buffering.scr:3:5\n");
}

/// A semicolon between back-quotes belongs to the text.
#[test]
fn an_example_with_a_semicolon_stays_whole() {
    let run = Folder::new("subtype_semicolon")
        .with("a.txt", "k: s!ready end\n")
        .call("subtype a.txt a.txt")
        .exits(2);
    let first = run.stderr.lines().next().unwrap();
    assert_eq!(first.matches('`').count() % 2, 0, "{run:?}");
    ends(first, "as in `B!a; end`");
}

/// The Hospital of CONCUR'19: a patient that may send for ever before it reads an answer.
const HOSPITAL: &str = "\
p: rec x . {h!nd; {h?ok; x, h?ko; x}, h!pr; h?fin; end}
h: rec x . {p?nd; {p!ok; x, p!ko; x}, p?pr; p!fin; end}
";
const PATIENT: &str = "p: rec x . {h!nd; x, h!pr; rec y . {h?ok; y, h?ko; y, h?fin; end}}\n";

#[test]
fn what_holds_only_if_choices_are_fair_is_said_and_accepted_by_name() {
    let folder = Folder::new("subtype_fair")
        .with("hospital.txt", HOSPITAL)
        .with("patient.txt", PATIENT)
        .with("never.txt", "p: rec x . h!nd; x\n");
    let refused = folder.call("subtype patient.txt hospital.txt --role p").exits(1);
    let refused = refused.says("").stdout;
    begins(
        &refused,
        "error[V0410]: `patient.txt` may not take the place of `hospital.txt`: it repeats itself and never receives `ok` from `h`\n",
    );
    says(&refused, "= note: it holds if choices are fair, and `--fair` accepts that\n");
    folder.call("subtype patient.txt hospital.txt --role p --fair").exits(0).says("").prints(
        "`patient.txt` may take the place of `hospital.txt`: 7 situations compared, what is put off can always still be done, if choices are fair\n",
    );
    let liveness = |arguments: &str, status| {
        let call = format!("subtype {arguments} --role p --format json");
        folder.call(&call).exits(status).json()["liveness"].clone()
    };
    assert_eq!(liveness("patient.txt hospital.txt", 1), "fair");
    assert_eq!(liveness("patient.txt hospital.txt --fair", 0), "fair");
    assert_eq!(liveness("hospital.txt hospital.txt --fair", 0), "every-run");
    assert_eq!(liveness("never.txt hospital.txt --fair", 1), Value::Null);
}

/// FoSSaCS'21: a ground station that sends before it listens. Some peers talk for ever.
#[test]
fn a_loop_of_receives_must_be_left_by_the_peers() {
    let folder = Folder::new("subtype_fair_left")
        .with("sub.txt", "g: rec x . {s!tm; x, s!over; rec y . {s?tc; y, s?done; end}}\n")
        .with("sup.txt", "g: rec y . {s?tc; y, s?done; rec x . {s!tm; x, s!over; end}}\n")
        .with(
            "ends.txt",
            "g: rec y . {s?tc; y, s?done; rec x . {s!tm; x, s!over; end}}
             s: rec y . {g!tc; y, g!done; rec x . {g?tm; x, g?over; end}}\n",
        )
        .with(
            "talks.txt",
            "g: rec y . {s?tc; y, s?done; rec x . {s!tm; x, s!over; end}}
             s: rec y . g!tc; y\n",
        );
    let alone = folder.call("subtype sub.txt sup.txt --fair").exits(0).stdout;
    ends(
        &alone,
        "if choices are fair; among peers with which it cannot be kept for ever at `s?tc` and `s?done`\n",
    );
    folder.call("subtype sub.txt ends.txt --role g --fair").exits(0).prints(
        "`sub.txt` may take the place of `ends.txt`: 8 situations compared, what is put off can always still be done, if choices are fair\n",
    );
    // Its message is never read.
    folder.call("subtype sub.txt talks.txt --role g --fair").exits(1);
}
