//! The DOT form: what is read, what is refused and where, what is printed.

#![allow(clippy::unwrap_used, reason = "an unwrap in a test is an assertion")]

mod common;

use fastrand::Rng;
use rumpsteak_fsm::{Action, Fsm, dot};
use rumpsteak_oracle::corpus;

/// The machines of a text, as their `Debug` lists them.
fn read(source: &str) -> Vec<String> {
    dot::parse(source)
        .unwrap()
        .iter()
        .map(|fsm| format!("{fsm:?}"))
        .collect()
}

/// Where and why a text is refused.
#[track_caller]
fn refused(source: &str) -> String {
    let error = dot::parse(source).unwrap_err();
    assert!(
        source.get(error.span.clone()).is_some(),
        "{:?} is no part of the text",
        error.span
    );
    error.to_string()
}

#[test]
fn the_form_of_nuscr_and_the_original_tool() {
    let source = "digraph k { 0; 1; 0 -> 1 [label=\"s!ready(i32)\", ]; }";
    assert_eq!(read(source), ["k: 2 states from 0, 0 -s!ready(i32)-> 1"]);
}

#[test]
fn several_digraphs_make_a_system() {
    let source = r#"
        digraph a { 0 -> 1 [label="b!x"] }
        digraph b { 0 -> 1 [label="a?x"] };
    "#;
    assert_eq!(
        read(source),
        [
            "a: 2 states from 0, 0 -b!x-> 1",
            "b: 2 states from 0, 0 -a?x-> 1"
        ]
    );
    assert_eq!(read(""), [""; 0]);
}

#[test]
fn the_first_node_is_the_initial_state() {
    let digraphs = dot::parse_named(r#"digraph a { q7 -> q3 [label="b!x"]; "the end"; }"#).unwrap();
    assert_eq!(digraphs[0].states, ["q7", "q3", "the end"]);
    assert_eq!(digraphs[0].fsm.initial().index(), 0);
    assert_eq!(digraphs[0].actions, vec![28..33]);
}

#[test]
fn the_dialect_is_tolerant() {
    let source = r#"
        # generated
        strict DiGraph "a b" {
            rankdir=LR; node [shape=circle,]; edge [fontname="Fira"]; graph [label=<b>]
            label = "what it is"
            0 [label="start", style = filled;] // the first
            1:n -> 2 -> 3:w:x [color="red" label="c?go"][weight=2];
            /* "not" a -> b */
            3 -> 0 [label = "c!on" + "ward(i32)" penwidth]
            -1 -> .5 [label="\"q\"?m"] ;;
        }"#;
    assert_eq!(
        read(source),
        ["a b: 6 states from 0, 1 -c?go-> 2, 2 -c?go-> 3, 3 -c!onward(i32)-> 0, 4 -\"q\"?m-> 5"]
    );
}

#[test]
fn payload_names_are_ignored_and_sorts_are_kept() {
    let sorts = |payload: &str| {
        let source = format!("digraph a {{ 0 -> 1 [label=\"b!x{payload}\"] }}");
        let fsm = dot::parse(&source).unwrap().remove(0);
        let action = fsm.transitions().next().unwrap().action.clone();
        action
            .message
            .payload
            .iter()
            .map(|sort| sort.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(sorts(""), [""; 0]);
    assert_eq!(sorts("()"), [""; 0]);
    assert_eq!(sorts(" ( i32 , )"), ["i32"]);
    assert_eq!(sorts("(a: i32, b :u8,c)"), ["i32", "u8", "c"]);
    assert_eq!(sorts("(std::string::String)"), ["std::string::String"]);
    assert_eq!(
        sorts("(a: Vec<(u8, u8)>, [u8; 4])"),
        ["Vec<(u8, u8)>", "[u8; 4]"]
    );
    assert_eq!(sorts("(fn(u8) -> u8, x)"), ["fn(u8) -> u8", "x"]);
    assert_eq!(sorts(r"(a\,b, \ c)"), ["a,b", " c"]);
    assert_eq!(sorts(r"(\n i32\l)"), ["i32"]);
}

#[test]
fn refusals_name_the_place_and_the_way_out() {
    assert_eq!(
        refused("graph a {}"),
        "1:1: a machine is a directed graph; write `digraph`"
    );
    assert_eq!(
        refused("digraf a {}"),
        "1:1: expected `digraph`, found `digraf`"
    );
    assert_eq!(
        refused("digraph {}"),
        "1:1: this digraph has no name; name it after the role, as in `digraph k { … }`"
    );
    assert_eq!(
        refused("digraph a {}"),
        "1:12: this machine has no state; write at least its initial one, as in `0;`"
    );
    assert_eq!(
        refused("digraph a"),
        "1:10: expected `{`, found the end of the text"
    );
    assert_eq!(
        refused("digraph a {\n 0"),
        "2:3: expected a node, an edge or `}`, found the end of the text"
    );
    assert_eq!(
        refused("digraph a { 0 -- 1 }"),
        "1:15: a transition has a direction; write `->`"
    );
    assert_eq!(
        refused("digraph a {\n  é -> 1 [color=red];\n}"),
        "2:3: this edge has no action; give it one, as in `[label=\"s!ready\"]`"
    );
    assert_eq!(
        refused("digraph a { 0 -> { 1 2 } }"),
        "1:18: an edge ends in one node; write an edge for each"
    );
    assert_eq!(
        refused("digraph a { subgraph b { 0 } }"),
        "1:13: a machine has no subgraphs; write its nodes and edges directly"
    );
    assert_eq!(
        refused("digraph a { 0 ["),
        "1:16: expected an attribute or `]`, found the end of the text"
    );
    assert_eq!(
        refused("digraph a { 0 [a=]"),
        "1:18: expected a value, found `]`"
    );
    assert_eq!(
        refused("digraph \"a {"),
        "1:9: this name has no end; close it with `\"`"
    );
    assert_eq!(
        refused("digraph a { /* 0"),
        "1:13: this comment has no end; close it with `*/`"
    );
    assert_eq!(
        refused("digraph a { 0 [x=<b>"),
        "1:21: expected an attribute or `]`, found the end of the text"
    );
    assert_eq!(
        refused("digraph a { 0 [x=<<b>"),
        "1:18: this markup has no end; close it with `>`"
    );
    assert_eq!(
        refused("digraph a { % }"),
        "1:13: `%` cannot stand here; quote names that contain it"
    );
    assert_eq!(
        refused("digraph a { / }"),
        "1:13: `/` cannot stand here; quote names that contain it"
    );
    assert_eq!(
        refused("digraph a + b { 0 }"),
        "1:13: expected a quoted name after `+`, found `b`"
    );
}

#[test]
fn a_bad_action_is_refused_at_its_character() {
    let action = |label: &str| refused(&format!("digraph a {{ 0 -> 1 [label=\"{label}\"] }}"));
    assert_eq!(
        action(""),
        "1:28: expected the name of the peer, as in `s!ready`"
    );
    assert_eq!(
        action("s"),
        "1:29: expected `!` or `?` after the peer, as in `s!ready`"
    );
    assert_eq!(
        action("s ready"),
        "1:30: expected `!` or `?` after the peer, as in `s!ready`"
    );
    assert_eq!(
        action("s!"),
        "1:30: expected the name of the message, as in `s!ready`"
    );
    assert_eq!(
        action("s!a b"),
        "1:32: expected the end of the action; an edge has one action"
    );
    assert_eq!(
        action(r"s!a\nt!b"),
        "1:33: expected the end of the action; an edge has one action"
    );
    assert_eq!(
        action("s!a(b"),
        "1:31: this parenthesis has no end; close it with `)`"
    );
    assert_eq!(
        action("s!a(b,,c)"),
        "1:34: expected a sort, as in `value(i32)`"
    );
    assert_eq!(
        action("s!a(b)c"),
        "1:34: expected the end of the action; an edge has one action"
    );
    assert_eq!(
        action(r"s!a\\"),
        "1:32: expected a character after the backslash"
    );
}

#[test]
fn every_machine_reads_back() {
    let names = [
        "b",
        "a b",
        "a!b",
        "é?",
        "q\"uote",
        "back\\slash",
        "(x)",
        "a,b",
        "new\nline",
        "node",
        "0",
        "-",
    ];
    let sorts = [
        "i32",
        "Vec<(u8, u8)>",
        "a: b",
        "a::b",
        " c ",
        "(",
        "a>b",
        "x, y",
        "fn(u8) -> u8",
        "\\",
        "é",
    ];
    for name in names {
        let mut builder = Fsm::builder(name);
        let states = [builder.add_state(), builder.add_state()];
        builder.add_transition(states[0], Action::send(name, name, &sorts), states[1]);
        builder.add_transition(states[1], Action::receive(name, name, &[]), states[1]);
        let fsm = builder.build(states[0]);
        let text = dot::print(&fsm);
        assert_eq!(dot::parse(&text).as_deref(), Ok(&[fsm][..]), "{text}");
    }
}

#[test]
fn printing_is_stable() {
    let mut builder = Fsm::builder("graph");
    let states = [builder.add_state(), builder.add_state()];
    builder.add_transition(states[1], Action::send("b", "x", &[]), states[0]);
    let fsm = builder.build(states[1]);
    let text = "digraph \"graph\" {\n  1;\n  0;\n  1 -> 0 [label=\"b!x\"];\n}\n";
    assert_eq!(dot::print(&fsm), text);
    assert_eq!(dot::print_all([&fsm, &fsm]), format!("{text}{text}"));
    let back = dot::parse_named(text).unwrap().remove(0);
    assert_eq!(back.states, ["1", "0"]);
    assert_eq!(back.fsm.initial().index(), 0);
}

#[test]
fn random_text_never_panics() {
    let words = [
        "digraph", " ", "a", "{", "}", "0", "->", "--", "[", "]", "label", "=", "\"", "s!x", "(",
        ")", ",", ";", "\\", "\\n", "/*", "*/", "//", "#", "\n", "<", ">", "é", ":", "+", "?",
        "\u{feff}", "-", ".",
    ];
    let mut random = Rng::with_seed(7);
    for _ in 0..20_000 {
        let mut text = String::from("digraph a { 0 -> 1 [label=\"b!x(i32)\"]; }");
        for _ in 0..random.usize(..6) {
            let at = text
                .char_indices()
                .nth(random.usize(..text.chars().count()))
                .map_or(0, |(at, _)| at);
            text.insert_str(at, words[random.usize(..words.len())]);
        }
        match dot::parse(&text) {
            Ok(machines) => {
                let printed = dot::print_all(&machines);
                assert_eq!(dot::parse(&printed), Ok(machines), "{text}\n{printed}");
            }
            Err(error) => assert!(text.get(error.span).is_some(), "{text}"),
        }
    }
}

#[test]
fn a_large_and_deep_text_is_read_in_linear_time() {
    let mut text = String::from("digraph a {");
    for state in 0..50_000 {
        text.push_str(&format!("{state} -> {} [label=\"b!x\"];", state + 1));
    }
    text.push('}');
    assert_eq!(dot::parse(&text).unwrap()[0].len(), 50_001);

    let deep = format!(
        "digraph a {{ 0 -> 1 [label=\"b!x({}\"] }}",
        "(".repeat(200_000)
    );
    assert!(refused(&deep).contains("has no end"));
    assert!(refused(&"{".repeat(200_000)).contains("expected `digraph`"));
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_corpus_reads_and_reads_back() {
    let pairs = corpus("pairs");
    let mut files = 0;
    for entry in std::fs::read_dir(pairs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "dot") {
            continue;
        }
        files += 1;
        let machines = dot::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(machines.len(), 1, "{path:?}");
        assert_eq!(
            dot::parse(&dot::print_all(&machines)),
            Ok(machines),
            "{path:?}"
        );
    }
    assert!(files >= 54, "{files} files");
}
