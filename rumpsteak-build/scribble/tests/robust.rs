//! No text makes the crate panic, hang or overflow the stack, and every error is inside the text.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::fmt::Write;

use fastrand::Rng;
use rumpsteak_oracle::interrupters;
use rumpsteak_scribble::{Code, Limits, Modules, check, parse};

/// Loads, checks and projects a text. Returns the number of errors.
fn run(source: &str) -> usize {
    let (modules, mut diagnostics) = Modules::load(source, |_| None);
    // Small limits, which must hold.
    let checked = modules.check(&Limits {
        global_states: 2_000,
        local_states: 2_000,
        projection_steps: 20_000,
        ..Limits::default()
    });
    diagnostics.extend(checked.diagnostics);
    for protocol in &checked.protocols {
        for role in protocol.roles() {
            if let Err(found) = protocol.project(role) {
                assert_ne!(found, []);
                diagnostics.extend(found);
            }
        }
    }
    for diagnostic in &diagnostics {
        let spans = diagnostic.secondary.iter().map(|(span, _)| *span);
        for span in spans.chain([diagnostic.primary]) {
            assert!(source.get(span.range()).is_some(), "{span:?}\n{source}");
        }
        assert!(!diagnostic.message.is_empty());
    }
    diagnostics.len()
}

const TOKENS: &str = "\
global|protocol|aux|role|choice|at|or|rec|continue|do|from|to|type|sig|data|as|module|\
import|par|and|explicit|connect|nested|calls|{|}|(|)|<|>|[|]|,|;|:|.|@|\"x\"|\"|(*|*)|\
/*|*/|//|\n|A|B|P|Q|X|é|→|\u{feff}|\u{0}|1|'|=|global protocol P(role A, role B) {|\
m() from A to B;|choice at A {|} or {|rec X {|continue X;|do P(A, B);|do P(B, A);|\
do Q(A, B);|n(Int, x: T) from B to A;";

fn tokens() -> Vec<&'static str> {
    TOKENS.split('|').collect()
}

#[test]
fn random_tokens() {
    let (mut random, tokens) = (Rng::with_seed(1), tokens());
    for _ in 0..4_000 {
        let mut source = String::new();
        for _ in 0..random.usize(..60) {
            source += random.choice(&tokens).unwrap();
            source += if random.usize(..8) == 0 { "" } else { " " };
        }
        run(&source);
    }
}

#[test]
fn random_bytes() {
    let mut random = Rng::with_seed(2);
    for _ in 0..4_000 {
        let bytes: Vec<u8> = (0..random.usize(..80))
            .map(|_| match random.usize(..4) {
                0 => random.u8(..),
                _ => random
                    .choice(["{", "}", "(", "*", ")", "/", "\"", ";", "a", "\n", "é", "\r"])
                    .unwrap()
                    .as_bytes()[0],
            })
            .collect();
        run(&String::from_utf8_lossy(&bytes));
    }
}

const PROTOCOL: &str = "\u{feff}module a.B;\r\ntype <rust> \"std::string::String\" from \"std\" as Str;\r\n
sig <rust> \"Cancel\" as Cancel;
aux global protocol Q<sig M, type T>(role A, role B) @\"note\" { M from A to B; n(T, x: a.b, P@A) from B to A; }
global protocol P(role A, role B, role C) { // comment
    rec X { choice at A { do Q<Cancel, Str>(A, B); m(Str) from B to C, A; continue X; }
            or { done() from A to B; (* why *) bye() from B to C; @\"text\" } }
    do R(A, B, C);
}
aux global protocol R(role A, role B, role C) { t() from C to A; choice at C { x() from C to B, A; do R(B, C, A); } or { y() from C to A, B; } }";

#[test]
fn mutated_text() {
    let (mut random, tokens) = (Rng::with_seed(3), tokens());
    let characters: Vec<char> = PROTOCOL.chars().collect();
    assert_eq!(run(PROTOCOL), 0, "{:?}", check(&parse(PROTOCOL).module));
    let mut accepted = 0;
    for _ in 0..4_000 {
        let mut text = characters.clone();
        for _ in 0..random.usize(..3) + 1 {
            let at = random.usize(..text.len());
            let to = (at + random.usize(..12)).min(text.len());
            match random.usize(..4) {
                0 => drop(text.drain(at..to)),
                1 => text.insert(at, random.choice(&tokens).unwrap().chars().next().unwrap()),
                2 => {
                    let other = random.usize(..text.len());
                    text.swap(at, other);
                }
                _ => {
                    let part = text[at..to].to_vec();
                    let other = random.usize(..text.len());
                    text.splice(other..other, part);
                }
            }
        }
        let text: String = text.into_iter().collect();
        accepted += usize::from(run(&text) == 0);
    }
    // Most changes are harmful, except inside names and comments.
    assert!((20..2_000).contains(&accepted), "{accepted}");
}

/// Deep enough to overflow the stack of a test with the smallest frame of a function.
const DEPTH: usize = 30_000;

/// The number of states of the first protocol. The text must have no errors.
fn accepted(source: &str) -> usize {
    let checked = check(&parse(source).module);
    let errors = checked.diagnostics.into_iter().filter(|found| found.is_error);
    assert_eq!(errors.collect::<Vec<_>>(), []);
    checked.protocols[0].states()
}

fn protocol(body: &str) -> String {
    format!("global protocol P(role A, role B) {{ {body} }}")
}

#[test]
fn thousands_of_nested_choices() {
    let mut body = "choice at A { a() from A to B; ".repeat(DEPTH);
    body += &"} or { b() from A to B; } ".repeat(DEPTH);
    let source = protocol(&body);
    let parsed = parse(&source);
    assert_eq!(parsed.diagnostics, []);
    let checked = check(&parsed.module);
    assert_eq!(checked.diagnostics, []);
    let projection = checked.protocols[0].project(&"B".into()).unwrap();
    assert_eq!(projection.fsm.len(), DEPTH + 1);
}

#[test]
fn more_blocks_than_are_judged() {
    let nested = "par { a() from A to B; ".repeat(DEPTH) + &"} ".repeat(DEPTH);
    let interrupts = "interruptible { a() from A to B; ".repeat(DEPTH);
    let interrupts = interrupts + &"} with { stop() by A; } ".repeat(DEPTH);
    let apart = "par { a() from A to B; } and { b() from B to A; } ".repeat(2_000);
    // A recursion through a block never ends.
    let endless = "par { a() from A to B; do P(A, B); } and { b() from B to A; }".to_owned();
    for body in [nested, interrupts, apart, endless] {
        let parsed = parse(&protocol(&body));
        assert_eq!(parsed.diagnostics, []);
        let checked = check(&parsed.module);
        let codes: Vec<Code> = checked.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::TooLarge]);
    }
}

#[test]
fn thousands_of_messages_in_a_block_whose_interrupt_is_passed_on() {
    let messages = (0..7_000).map(|number| format!("m{number}() from A to B; "));
    let body = messages.collect::<String>() + "} with { stop() by C via B; }";
    let source = format!("global protocol P(role A, role B, role C) {{ interruptible {{ {body} }}");
    let error = check(&parse(&source).module).protocols[0].project(&"A".into()).unwrap_err();
    assert_eq!(error[0].code, Code::OpenInterrupt);
}

#[test]
fn a_text_of_more_than_64_mebibytes_is_not_read() {
    let text = " ".repeat(64 << 20);
    assert_eq!(parse(&text).diagnostics, []);
    let parsed = parse(&(text + " "));
    let [error] = &*parsed.diagnostics else {
        panic!("{:?}", parsed.diagnostics);
    };
    assert_eq!(error.code, Code::TextTooLong);
    assert_eq!(error.primary.range(), 0..0);
    assert!(!parsed.module.complete);
}

#[test]
fn thousands_of_nested_recursions_without_a_message_between() {
    let mut body: String = (0..DEPTH).map(|depth| format!("rec X{depth} {{ ")).collect();
    body += "a() from A to B; continue X0; ";
    body += &"}".repeat(DEPTH);
    assert_eq!(accepted(&protocol(&body)), 1);
}

#[test]
fn thousands_of_open_brackets_of_each_kind() {
    for open in
        ["{", "(", "<", "[", "(*", "/*", "choice at A {", "par {", "rec X {", "m(x: y{", "do Q<a("]
    {
        let source = format!("global protocol P(role A) {{ {}", open.repeat(DEPTH));
        assert!(run(&source) >= 1, "{open}");
    }
}

#[test]
fn a_chain_of_calls() {
    let mut source = String::new();
    for depth in 0..20_000 {
        writeln!(
            source,
            "aux global protocol P{depth}(role A, role B) {{ do P{}(B, A); }}",
            depth + 1
        )
        .unwrap();
    }
    source += "aux global protocol P20000(role A, role B) { m() from A to B; }\n";
    source += "global protocol P(role A, role B) { do P0(A, B); n() from A to B; }";
    assert_eq!(accepted(&source), 3);
}

/// `P0` calls `P1` twice, which calls `P2` twice, …
fn doubling(depth: usize, call: &str) -> String {
    let mut source = "global protocol P(role A, role B) { do P0(A, B); }\n".to_owned();
    for level in 0..depth {
        let call = call.replace("NEXT", &format!("do P{}(A, B);", level + 1));
        writeln!(source, "aux global protocol P{level}(role A, role B) {{ {call} }}").unwrap();
    }
    writeln!(source, "aux global protocol P{depth}(role A, role B) {{ m() from A to B; }}")
        .unwrap();
    source
}

#[test]
fn calls_in_branches_are_shared() {
    let source = doubling(40, "choice at A { l() from A to B; NEXT } or { r() from A to B; NEXT }");
    assert_eq!(accepted(&source), 42);
}

#[test]
fn choices_one_after_the_other_share_what_follows() {
    let choice = "choice at A { l() from A to B; } or { r() from A to B; }";
    assert_eq!(accepted(&protocol(&choice.repeat(40))), 41);
}

#[test]
fn calls_in_sequence_meet_the_limit() {
    let source = doubling(40, "NEXT NEXT");
    let checked = check(&parse(&source).module);
    let [error] = &*checked.diagnostics else {
        panic!("{:?}", checked.diagnostics);
    };
    assert_eq!(error.code, Code::TooLarge);
    assert_eq!(error.message, "the protocol has more than 200000 states");
    assert!(error.help.as_ref().unwrap().contains("the limit `global_states`"));

    assert_eq!(accepted(&doubling(10, "NEXT NEXT")), 1_025);
}

#[test]
fn the_limits_of_projection_are_answers() {
    // C sees nothing for a long time: three possible states at once are too many here.
    let source = "global protocol P(role A, role B, role C) {
        choice at A { l() from A to C; } or { r() from A to B; x() from B to C; } m() from C to A; }";
    let (modules, _) = Modules::load(source, |_| None);
    let limits = Limits::default();
    for (name, limits) in [
        ("local_states", Limits { local_states: 2, ..limits }),
        ("projection_steps", Limits { projection_steps: 1, ..limits }),
    ] {
        let checked = modules.check(&limits);
        let errors = checked.protocols[0].project(&"C".into()).unwrap_err();
        assert_eq!(errors[0].code, Code::ProjectionTooLarge);
        let help = errors[0].help.as_ref().unwrap();
        assert!(help.contains(&format!("the limit `{name}`")), "{help}");
    }
}

#[test]
fn many_interrupters_meet_the_limit_of_transitions_at_once() {
    let error = |source: &str, local_transitions| {
        let (modules, errors) = Modules::load(source, |_| None);
        assert_eq!(errors, []);
        let limits = Limits { local_transitions, ..Limits::default() };
        let found = modules.check(&limits).protocols[0].project_all().err()?.remove(0);
        assert_eq!(found.code, Code::ProjectionTooLarge);
        Some((found.message, found.help.unwrap_or_default()))
    };
    let met = |role, limit| {
        let help = "let fewer roles interrupt the block, or give it fewer parts, or raise the limit `local_transitions`";
        let message =
            format!("projecting onto `{role}` meets the limit {limit} of `local_transitions`");
        Some((message, help.to_owned()))
    };
    for count in [14, 24, 30] {
        assert_eq!(error(&interrupters(count), 25_000), met("r0", 25_000));
    }
    assert_eq!(error(&interrupters(4), 25_000), None);
    assert_eq!(error(&interrupters(4), 100), met("r0", 100));
    // All orders of a `par` have the same limit.
    let parts: Vec<String> = (0..12).map(|part| format!("{{ a{part}() from A to B; }}")).collect();
    let par = format!("global protocol P(role A, role B) {{ par {} }}", parts.join(" and "));
    assert_eq!(error(&par, 25_000), None);
    assert_eq!(error(&par, 10_000), met("B", 10_000));
}

#[test]
fn a_role_that_is_not_there() {
    let checked = check(&parse(&protocol("m() from A to B;")).module);
    let errors = checked.protocols[0].project(&"a".into()).unwrap_err();
    assert_eq!(errors[0].code, Code::NoSuchRole);
    assert_eq!(errors[0].help.as_deref(), Some("did you mean `A`?"));
}

#[test]
fn many_errors_take_no_time() {
    let source = protocol(&"m() frm A to B; ".repeat(20_000));
    assert_eq!(run(&source), 20_000);
    let source = protocol(&"m() from A to Z; ".repeat(20_000));
    assert_eq!(run(&source), 1);

    let mut source = "global protocol P(role A".to_owned();
    for number in 0..5_000 {
        write!(source, ", role Role{number}").unwrap();
    }
    source += ") {";
    for number in 5_000..10_000 {
        write!(source, "m() from A to Role{number}x; continue Rec{number}; do Q{number}(A); ")
            .unwrap();
    }
    source += "}";
    assert_eq!(run(&source), 15_000);
}

#[test]
fn what_is_quadratic_meets_a_limit() {
    // From each of many nested recursions each of them is continued.
    let mut body = String::new();
    for depth in 0..3_000 {
        write!(
            body,
            "rec X{depth} {{ choice at A {{ a{depth}() from A to B; continue X0; }} or {{ "
        )
        .unwrap();
    }
    body += "b() from A to B; ";
    body += &"} } ".repeat(3_000);
    accepted(&protocol(&body));

    let mut body = String::new();
    for depth in 0..5_000 {
        write!(body, "rec X{depth} {{ m() from A to B; ").unwrap();
    }
    body += "choice at A { ";
    for depth in 0..5_000 {
        write!(body, "c{depth}() from A to B; continue X{depth}; }} or {{ ").unwrap();
    }
    body += "d() from A to B; }";
    body += &"} ".repeat(5_000);
    accepted(&protocol(&body));

    // C learns the place of the protocol step by step: in each state most places are possible.
    let mut body = String::new();
    for place in 0..20_000 {
        write!(body, "choice at A {{ m{place}() from A to C; }} or {{ }} ").unwrap();
    }
    body += "end() from A to C; end() from C to B;";
    let source = format!("global protocol P(role A, role B, role C) {{ {body} }}");
    let checked = check(&parse(&source).module);
    let code = checked.diagnostics.first().map(|error| error.code);
    assert_eq!(code, Some(Code::TooLarge));
}

/// Files of the corpora with missing, doubled or exchanged parts.
#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn mutated_files() {
    let mut folders = vec![rumpsteak_oracle::corpus("scribble")];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "scr") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts.sort();
    let mut random = Rng::with_seed(4);
    for text in &texts {
        for _ in 0..5 {
            let mut words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
            for _ in 0..random.usize(..4) + 1 {
                let (at, other) = (random.usize(..words.len()), random.usize(..words.len()));
                match random.usize(..3) {
                    0 => drop(words.remove(at)),
                    1 => words.insert(at, words[other]),
                    _ => words.swap(at, other),
                }
            }
            run(&words.concat());
        }
    }
}
