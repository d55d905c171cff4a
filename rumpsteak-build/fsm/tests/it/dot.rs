//! The DOT form: what is read, what is refused and where, what is printed.

use rumpsteak_fsm::text::{Form, parse_named, print};
use rumpsteak_fsm::{Action, Fsm, dot};
use rumpsteak_oracle::corpus;

fn read(source: &str) -> Vec<String> {
    dot::parse(source).unwrap().iter().map(|fsm| format!("{fsm:?}")).collect()
}

#[track_caller]
fn refused(source: &str) -> String {
    let error = dot::parse(source).unwrap_err();
    assert!(source.get(error.span.clone()).is_some(), "{:?} is no part of the text", error.span);
    error.to_string()
}

#[test]
fn the_first_node_is_the_initial_state() {
    let digraphs =
        parse_named(r#"digraph a { q7 -> q3 [label="b!x"]; "the end"; }"#, Form::Dot).unwrap();
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
fn another_keyword_is_refused() {
    assert_eq!(refused("digraf a {}"), "1:1: expected `digraph`, found `digraf`");
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
        // As Scribble has it: `() from a to b;`.
        builder.add_transition(states[1], Action::receive(name, "", &[]), states[0]);
        builder.add_transition(states[1], Action::receive(name, "", &sorts), states[0]);
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
    let both = print(Form::Dot, &[fsm.clone(), fsm]).unwrap();
    assert_eq!(both, format!("{text}{text}"));
    let back = parse_named(text, Form::Dot).unwrap().remove(0);
    assert_eq!(back.states, ["1", "0"]);
    assert_eq!(back.fsm.initial().index(), 0);
}

#[test]
fn a_large_and_deep_text_is_read_in_linear_time() {
    let mut text = String::from("digraph a {");
    for state in 0..50_000 {
        text.push_str(&format!("{state} -> {} [label=\"b!x\"];", state + 1));
    }
    text.push('}');
    assert_eq!(dot::parse(&text).unwrap()[0].len(), 50_001);

    let deep = format!("digraph a {{ 0 -> 1 [label=\"b!x({}\"] }}", "(".repeat(200_000));
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
        assert_eq!(dot::parse(&print(Form::Dot, &machines).unwrap()), Ok(machines), "{path:?}");
    }
    assert!(files >= 54, "{files} files");
}
