//! The text forms: what is read, what is refused and where, what is printed and read back.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use fastrand::Rng;
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Action, Fsm, StateId, Transition, dot};
use rumpsteak_oracle::{action, corpus};

use crate::common;

fn read(source: &str) -> Vec<String> {
    text::parse(source).unwrap().iter().map(|fsm| format!("{fsm:?}")).collect()
}

/// The machine with its states numbered in the order in which a walk from the initial state meets
/// them, and all terminal states called `end`.
fn canonical(fsm: &Fsm) -> String {
    let mut numbers = vec![None; fsm.len()];
    let mut next = 0;
    let mut number = |state: StateId, queue: &mut VecDeque<StateId>| {
        *numbers[state.index()].get_or_insert_with(|| {
            queue.push_back(state);
            next += 1;
            next - 1
        })
    };
    let mut queue = VecDeque::new();
    let mut lines = vec![fsm.role().to_string()];
    number(fsm.initial(), &mut queue);
    while let Some(state) = queue.pop_front() {
        let source = number(state, &mut queue);
        for transition in fsm.transitions_from(state) {
            let target = match fsm.is_terminal(transition.target) {
                true => "end".to_owned(),
                false => number(transition.target, &mut queue).to_string(),
            };
            lines.push(format!("{source} {} {target}", transition.action));
        }
    }
    lines.join("\n")
}

#[track_caller]
fn assert_round_trip(form: Form, machines: &[Fsm]) {
    let printed = text::print(form, machines).unwrap();
    assert_eq!(Form::detect(&printed), form, "{printed}");
    let again = text::parse(&printed).unwrap();
    let canonical = |machines: &[Fsm]| machines.iter().map(canonical).collect::<Vec<_>>();
    assert_eq!(canonical(&again), canonical(machines), "{printed}");
}

/// A system with payloads, loops and a choice.
const LOCAL: &str = "\
-- streaming
s: rec X . t?ready; {t!value<i32, Vec<(u8, u8)>>; X, t!stop; end}
t: rec X . s!ready; {s?value<i32, Vec<(u8, u8)>>; X, s?stop; end}
";

const CFSM: &str = "\
-- participant 0
.outputs
.state graph
q0 1 ! ready q1
q1 1 ? value<i32> q0
.marking q0
.end
--@role source
.outputs .state graph
here 0 ? ready there there 0 ! value<i32> here
.marking here .end
";

/// The texts of `cases/texts.md`, one a line, with what is read or refused.
#[test]
fn each_text_is_read_or_refused() {
    let path = common::pairs::path("texts.md");
    let mut answered = String::new();
    let mut in_fence = false;
    for line in fs::read_to_string(&path).unwrap().lines() {
        if in_fence && line.starts_with("= ") {
            continue;
        }
        answered += &format!("{line}\n");
        if line.starts_with("```") {
            in_fence = line == "```texts";
        } else if in_fence {
            let source = line.replace('⏎', "\n");
            match text::parse(&source) {
                Ok(machines) => {
                    let lines = machines.iter().map(|fsm| format!("= {fsm:?}\n"));
                    answered.extend(lines);
                }
                Err(error) => {
                    let part = source[error.span.clone()].replace('\n', "⏎");
                    answered += &format!("= {error} [{part}]\n");
                }
            }
        }
    }
    expect_file![path].assert_eq(&answered);
}

#[test]
fn forms_are_told_apart_by_content() {
    for (source, form) in [
        ("digraph k { }", Form::Dot),
        ("# a comment\n// another\nstrict digraph { }", Form::Dot),
        ("", Form::Dot),
        ("graph { }", Form::Dot),
        ("A: end", Form::Local),
        ("\u{feff}-- comment\n/* one /* two */ */ A /* three */ : end", Form::Local),
        ("digraph: end", Form::Local),
        ("rec X . !a; X", Form::Binary),
        ("end", Form::Binary),
        ("+{!a; end}", Form::Binary),
        ("!a; end", Form::Binary),
        (" .outputs", Form::Cfsm),
        ("stateDiagram-v2\n", Form::Mermaid),
        ("<svg xmlns=\"\">", Form::Svg),
    ] {
        assert_eq!(Form::detect(source), form, "{source}");
    }
}

#[test]
fn local_types_are_machines() {
    assert_eq!(
        read(LOCAL),
        [
            "s: 3 states from 0, 0 -t?ready-> 1, 1 -t!value(i32, Vec<(u8, u8)>)-> 0, 1 -t!stop-> 2",
            "t: 3 states from 0, 0 -s!ready-> 1, 1 -s?value(i32, Vec<(u8, u8)>)-> 0, 1 -s?stop-> 2",
        ]
    );
}

#[test]
fn cfsm_text_numbers_its_participants() {
    assert_eq!(
        read(CFSM),
        [
            "0: 2 states from 0, 0 -source!ready-> 1, 1 -source?value(i32)-> 0",
            "source: 2 states from 0, 0 -0?ready-> 1, 1 -0!value(i32)-> 0",
        ]
    );
    let named = text::parse_named(CFSM, Form::Cfsm).unwrap();
    assert_eq!(named[1].states, ["here", "there"]);
    assert_eq!(&CFSM[named[0].actions[1].clone()], "q1 1 ? value<i32> q0");
}

#[test]
fn places_of_actions_are_kept() {
    let named = text::parse_named(LOCAL, Form::Local).unwrap();
    let actions: Vec<_> = named[0].actions.iter().map(|span| &LOCAL[span.clone()]).collect();
    assert_eq!(actions, ["t?ready", "t!value", "t!stop"]);
    assert_eq!(named[0].states, ["0", "1", "2"]);
    let dot = text::parse_named("digraph a { x -> y [label=\"b!c\"] }", Form::Dot).unwrap();
    assert_eq!(dot[0].states, ["x", "y"]);
    assert_eq!(dot[0].actions, vec![26..31]);
}

#[test]
fn printed_forms() {
    let machines = text::parse(LOCAL).unwrap();
    assert_eq!(
        text::print(Form::Local, &machines).unwrap(),
        "\
s: rec x . t?ready; {t!value<i32, Vec<(u8, u8)>>; x, t!stop; end}
t: rec x . s!ready; {s?value<i32, Vec<(u8, u8)>>; x, s?stop; end}
"
    );
    assert_eq!(
        text::print(Form::Cfsm, &machines).unwrap(),
        "\
--@role s
.outputs
.state graph
q0 1 ? ready q1
q1 1 ! value<i32, Vec<(u8, u8)>> q0
q1 1 ! stop q2
.marking q0
.end

--@role t
.outputs
.state graph
q0 0 ! ready q1
q1 0 ? value<i32, Vec<(u8, u8)>> q0
q1 0 ? stop q2
.marking q0
.end
"
    );
    assert_eq!(
        text::print(Form::Mermaid, &machines[..1]).unwrap(),
        "\
stateDiagram-v2
    [*] --> s0
    state \"0\" as s0
    state \"1\" as s1
    state \"2\" as s2
    s0 --> s1: t?ready
    s1 --> s0: t!value(i32, Vec#60;(u8, u8)#62;)
    s1 --> s2: t!stop
    s2 --> [*]
"
    );
    let binary = text::parse("rec X . &[?a; rec Y . !x; {!b; Y, !c; X}, ?b; end]").unwrap();
    assert_eq!(
        text::print(Form::Local, &binary).unwrap(),
        "self: rec x . {peer?a; rec x1 . peer!x; {peer!b; x1, peer!c; x}, peer?b; end}\n"
    );
}

/// `t`: asked to begin, it waits; then it is told a value, and waits again, or to stop.
#[test]
fn a_picture_has_each_state_once_and_each_way() {
    let picture = text::print(Form::Svg, &text::parse(LOCAL).unwrap()[1..]).unwrap();
    let [state, repeated, end] =
        ["r=\"13\"/>", "r=\"13\" stroke-dasharray=\"3 3\"/>", "r=\"10\"/>"];
    for (part, times) in [
        (">t</text>", 1),
        ("s!ready</text>", 1),
        // What names could mean in XML is written out.
        ("s?value(i32, Vec&lt;(u8, u8)&gt;)</text>", 1),
        ("s?stop</text>", 1),
        ("l4 7", 3),
        // The second of three states, the end, and the first once more.
        (state, 2),
        (repeated, 1),
        (end, 1),
    ] {
        assert_eq!(picture.matches(part).count(), times, "{part}: {picture}");
    }
    assert_eq!(picture.lines().count(), 1);
    // Straight down, and to the right where that is taken.
    assert!(picture.contains("M24 57H24V87m"), "{picture}");
    assert!(picture.contains("M24 119H"), "{picture}");
}

#[test]
fn printed_machines_are_read_back() {
    for source in [
        LOCAL,
        CFSM,
        "A: rec x . {B!a; rec y . B?b; {B!c; y, B!d; x}, B!e; end} B: end",
        "A: B!a; rec x . B!a; rec y . {B!a; y, B!b; x, B!c; end}",
    ] {
        let machines = text::parse(source).unwrap();
        for form in [Form::Dot, Form::Local] {
            assert_round_trip(form, &machines);
        }
        if !source.contains("end} B: end") && machines.len() == 2 {
            assert_round_trip(Form::Cfsm, &machines);
        }
    }
}

fn machine(role: &str, states: usize, transitions: &[(usize, Action, usize)]) -> Fsm {
    let mut builder = Fsm::builder(role);
    let states: Vec<_> = (0..states).map(|_| builder.add_state()).collect();
    for (from, action, to) in transitions {
        builder.add_transition(states[*from], action.clone(), states[*to]);
    }
    builder.build(states[0])
}

/// The machines of `cases/print_errors.md`, each after the form that cannot say them.
#[test]
fn what_a_form_cannot_say_is_refused() {
    let path = common::pairs::path("print_errors.md");
    let document = fs::read_to_string(&path).unwrap();
    let mut answered = String::new();
    let mut case = (Form::Dot, vec![]);
    for line in document.lines().filter(|line| !line.starts_with("= ")) {
        let forms = [("binary", Form::Binary), ("cfsm", Form::Cfsm), ("local", Form::Local)];
        if let Some((_, form)) = forms.into_iter().find(|(name, _)| *name == line) {
            case = (form, vec![]);
        } else if case.0 != Form::Dot && !line.is_empty() && line != "```" {
            case.1.push(common::machine(line));
        } else if case.0 != Form::Dot {
            let (form, machines) = std::mem::replace(&mut case, (Form::Dot, vec![]));
            let refused = text::print(form, &machines).unwrap_err();
            answered += &format!("= {refused}\n");
        }
        answered += &format!("{line}\n");
    }
    expect_file![path].assert_eq(&answered);

    // Two ways from each state to the next: 2^20 ways to the last.
    let (a, c) = (Action::send("b", "a", &[]), Action::send("b", "c", &[]));
    let steps = (0..20).flat_map(|at| [(at, a.clone(), at + 1), (at, c.clone(), at + 1)]);
    let steps: Vec<_> = steps.chain([(20, a.clone(), 0)]).collect();
    let alone = machine("k", 3, &[(0, a.clone(), 1)]);
    for (form, machines, expected) in [
        (
            Form::Local,
            vec![machine("k", 21, &steps)],
            "the machine of `k`: a type writes a state once for each way to it, which would be more than 10021 states here; use DOT or CFSM text",
        ),
        (
            Form::Local,
            vec![machine("", 1, &[])],
            "the machine of ``: the role `` is not made of letters, digits and `_`; use DOT",
        ),
        (
            Form::Cfsm,
            vec![machine("k\n", 1, &[])],
            "the machine of `k\n`: its name does not fit a line; rename it, or use DOT",
        ),
        (
            Form::Cfsm,
            vec![alone, machine("b", 1, &[])],
            "the machine of `k`: no transition is at state 2, which CFSM text cannot say; use DOT",
        ),
    ] {
        assert_eq!(text::print(form, &machines).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_loop_with_two_exits_is_a_type() {
    let local = |fsm: &Fsm| text::print(Form::Local, std::slice::from_ref(fsm)).unwrap();
    let (a, c) = (Action::send("b", "a", &[]), Action::send("b", "c", &[]));
    let (stop, ok) = (Action::send("b", "stop", &[]), Action::receive("b", "ok", &[]));
    let exits = [(0, a.clone(), 1), (0, stop.clone(), 2), (1, c.clone(), 0), (1, stop, 2)];
    let with = |states, then: &[(usize, Action, usize)]| {
        machine("k", states, &[&exits[..], then].concat())
    };

    let both_end = with(3, &[]);
    let expected = "k: rec x . {b!a; {b!c; x, b!stop; end}, b!stop; end}\n";
    assert_eq!(local(&both_end), expected);
    assert_round_trip(Form::Local, &[both_end]);

    // What follows is written once for each exit.
    let both_go_on = with(4, &[(2, ok.clone(), 3)]);
    let expected = "k: rec x . {b!a; {b!c; x, b!stop; b?ok; end}, b!stop; b?ok; end}\n";
    assert_eq!(local(&both_go_on), expected);
    assert_read_back_unfolded(&both_go_on);

    // A loop after the loop, and a loop that is entered in two places.
    let again = with(4, &[(2, ok.clone(), 3), (3, a.clone(), 2)]);
    let expected = "k: rec x . {b!a; {b!c; x, b!stop; rec x1 . b?ok; b!a; x1}, \
                    b!stop; rec x1 . b?ok; b!a; x1}\n";
    assert_eq!(local(&again), expected);
    assert_read_back_unfolded(&again);
    let entered_twice = [(0, a.clone(), 1), (0, c.clone(), 2), (1, ok.clone(), 2), (2, ok, 1)];
    let entered_twice = machine("k", 3, &entered_twice);
    let expected = "k: {b!a; rec x . b?ok; b?ok; x, b!c; rec x1 . b?ok; b?ok; x1}\n";
    assert_eq!(local(&entered_twice), expected);
    assert_read_back_unfolded(&entered_twice);
}

/// A machine that is read back takes the same steps in the same order; several of its states may
/// stand for one.
#[track_caller]
fn assert_read_back_unfolded(fsm: &Fsm) {
    let printed = text::print(Form::Local, std::slice::from_ref(fsm)).unwrap();
    let again = text::parse(&printed).unwrap().remove(0);
    let mut met = HashSet::new();
    let mut open = vec![(fsm.initial(), again.initial())];
    while let Some((state, unfolded)) = open.pop() {
        if !met.insert((state, unfolded)) {
            continue;
        }
        let (own, other) = (fsm.transitions_from(state), again.transitions_from(unfolded));
        let (own, other): (Vec<_>, Vec<_>) = (own.collect(), other.collect());
        let actions = |transitions: &[Transition<'_>]| -> Vec<Action> {
            transitions.iter().map(|transition| transition.action.clone()).collect()
        };
        assert_eq!(actions(&own), actions(&other), "{printed}");
        open.extend(own.iter().zip(&other).map(|(own, other)| (own.target, other.target)));
    }
}

fn random_graph(random: &mut Rng, role: &str, peers: &[&str]) -> Fsm {
    let sorts: &[&[&str]] = &[&[], &["i32"], &["Vec<(u8, u8)>", "a::B"], &["fn(u8) -> u8"]];
    let states = 1 + random.usize(..6);
    let mut transitions = vec![];
    for state in 1..states + random.usize(..6) {
        let from = random.usize(..state.min(states));
        let to = if state < states { state } else { random.usize(..states) };
        let peer = peers[random.usize(..peers.len())];
        let label = ["a", "b_1", "ü"][random.usize(..3)];
        let payload = sorts[random.usize(..sorts.len())];
        transitions.push((from, action(random.bool(), peer, label, payload), to));
    }
    if transitions.is_empty() {
        transitions.push((0, Action::send(peers[0], "a", &[]), 0));
    }
    machine(role, states, &transitions)
}

#[test]
fn random_machines_are_read_back_from_every_form_that_can_say_them() {
    let mut random = Rng::with_seed(1);
    let mut said = 0;
    for _ in 0..500 {
        let machines = [
            random_graph(&mut random, "k", &["s", "t"]),
            random_graph(&mut random, "s", &["k", "t"]),
            random_graph(&mut random, "t", &["k"]),
        ];
        for form in [Form::Dot, Form::Cfsm] {
            assert_round_trip(form, &machines);
        }
        for fsm in machines {
            if text::print(Form::Local, std::slice::from_ref(&fsm)).is_ok() {
                said += 1;
                assert_read_back_unfolded(&fsm);
            }
        }
    }
    // A type has no state that nothing reaches; the others can be said.
    assert!(said > 750, "{said}");
}

#[test]
fn no_text_makes_a_parser_panic() {
    let seeds = [
        LOCAL,
        CFSM,
        "rec X . &[?a; !x; X, ?b; end]",
        "digraph k { 0 -> 1 [label=\"s!ready(i32)\", ]; }",
    ];
    let pieces: Vec<&str> = "{ } [ ] < > , ; . ! ? X end A: B!a; -- /* */ é \u{feff} \" \\ + & .end 0 -> = ( ) # : - // \\n a label s!x digraph 99999999999999999999"
        .split(' ')
        .chain(["\n", " ", "rec X . ", ".marking q0", "--@role ", "q0 1 ! a q1"])
        .collect();
    let mut random = Rng::with_seed(2);
    for round in 0..20_000 {
        let mut source: Vec<char> = seeds[round % seeds.len()].chars().collect();
        for _ in 0..1 + random.usize(..5) {
            let at = random.usize(..source.len() + 1);
            let end = (at + random.usize(..8)).min(source.len());
            match random.usize(..3) {
                0 => drop(source.drain(at..end)),
                1 => drop(source.splice(at..end, pieces[random.usize(..pieces.len())].chars())),
                _ => {
                    let copy = source[at..end].to_vec();
                    let to = random.usize(..source.len() + 1);
                    drop(source.splice(to..to, copy));
                }
            }
        }
        let source: String = source.into_iter().collect();
        for form in [Form::Binary, Form::Cfsm, Form::Dot, Form::Local, Form::Mermaid, Form::Svg] {
            match text::parse_named(&source, form) {
                Err(error) => assert!(source.get(error.span).is_some()),
                Ok(machines) => {
                    for machine in machines {
                        assert_eq!(machine.actions.len(), machine.fsm.transition_count());
                        assert_eq!(machine.states.len(), machine.fsm.len());
                        let printed = dot::print(&machine.fsm);
                        if form == Form::Dot && !machine.fsm.role().as_str().is_empty() {
                            let again = dot::parse(&printed);
                            assert_eq!(again.as_deref(), Ok(&[machine.fsm][..]), "{printed}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn no_depth_is_too_deep() {
    const DEPTH: usize = 100_000;
    for (opening, middle, closing) in [
        ("{B!a; ", "end", "}"),
        ("{", "B!a; end", "}"),
        ("rec X . ", "B!a; X", ""),
        ("rec X . ", "X", ""),
        ("rec X . B!a; ", "X", ""),
        ("{B!a; end, B!b; ", "end", "}"),
        ("B!a<", "i32", ">; end"),
        ("/*", "", "*/"),
    ] {
        let source = format!("A: {}{middle}{}", opening.repeat(DEPTH), closing.repeat(DEPTH));
        if let Ok(machines) = text::parse(&source) {
            for form in [Form::Dot, Form::Mermaid, Form::Svg] {
                assert!(text::print(form, &machines).is_ok());
            }
            let local = text::print(Form::Local, &machines).unwrap();
            assert_eq!(canonical(&text::parse(&local).unwrap()[0]), canonical(&machines[0]));
        }
        // Never closed.
        assert!(text::parse(&format!("A: {}", opening.repeat(DEPTH))).is_err());
    }
}

fn texts(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_corpora_are_read_and_read_back() {
    for (folder, count, forms) in
        [("kmc", 81, [Form::Cfsm, Form::Local]), ("binary", 132, [Form::Binary, Form::Binary])]
    {
        let folder = corpus(folder);
        let mut files = vec![];
        texts(&folder, &mut files);
        assert_eq!(files.len(), count);
        for path in files {
            let source = fs::read_to_string(&path).unwrap();
            let form = Form::detect(&source);
            assert!(forms.contains(&form), "{}: {form}", path.display());
            let machines =
                text::parse(&source).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            assert_round_trip(Form::Dot, &machines);
            if form != Form::Binary {
                assert_round_trip(form, &machines);
            }
        }
    }
}
