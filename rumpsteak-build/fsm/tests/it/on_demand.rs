//! Roles that play on demand: those that need not be asked to begin, and may be asked again.

use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::system::{System, explore};
use rumpsteak_fsm::text::{Form, print};
use rumpsteak_fsm::verify::{Evidence, Refused, verify};
use rumpsteak_fsm::{Fsm, Limits, Verdict, dot, kmc};

/// `b` may ask `c`, or not, again and again.
const MACHINES: &str = r#"
    digraph a { 0 -> 1 [label="b!go"]; 1 -> 0 [label="b?next"]; 1 -> 2 [label="b?stop"] }
    digraph b {
        0 -> 1 [label="a?go"]; 1 -> 2 [label="c!ask"]; 2 -> 3 [label="c?answer"]; 3 -> 0 [label="a!next"];
        1 -> 4 [label="a!stop"];
    }
    digraph c { 0 [label="on demand"]; 0 -> 1 [label="b?ask"]; 1 -> 2 [label="b!answer"] }
"#;

fn machines() -> Vec<Fsm> {
    dot::parse(MACHINES).unwrap()
}

#[test]
fn who_is_not_asked_is_finished_and_who_is_asked_again_begins_again() {
    let system = System::new(machines()).unwrap();
    let explored = explore(&system, &Limits::default());
    assert_eq!((explored.verdict, explored.starvation), (Verdict::Safe(()), None));
    assert!(explored.coverage.exhaustive);
    assert_eq!(kmc::check(&system, &Limits::default()).verdict, kmc::Verdict::Safe(1));

    // The same as an ordinary role waits for ever.
    let ordinary = machines().into_iter().map(|fsm| fsm.on_demand(false)).collect();
    let system = System::new(ordinary).unwrap();
    let explored = explore(&system, &Limits::default());
    assert_eq!(explored.verdict.refusal().unwrap().failure, Failure::Deadlock);
    assert!(matches!(kmc::check(&system, &Limits::default()).verdict, kmc::Verdict::Unsafe(_)));
}

#[test]
fn nothing_is_done_before_the_role_is_asked() {
    let [a, b, c] = &machines()[..] else { panic!("three machines") };
    let judge = |written: &str| {
        verify(&dot::parse(written).unwrap().remove(0), c, &[a, b], &Limits::default()).unwrap()
    };
    let in_turn = r#"digraph c { 0 -> 1 [label="b?ask"]; 1 -> 2 [label="b!answer"] }"#;
    assert!(judge(in_turn).is_safe());
    // Subtyping alone takes for granted that the message comes.
    let early = r#"digraph c { 0 -> 1 [label="b!answer"]; 1 -> 2 [label="b?ask"] }"#;
    let Verdict::Unsafe(Refused { evidence: Evidence::Run(run), .. }) = judge(early) else {
        panic!("a run is expected")
    };
    assert_eq!(run.failure.to_string(), "b never receives the message from c");
}

#[test]
fn dot_says_it_and_local_types_cannot() {
    let machines = machines();
    assert_eq!(dot::parse(&machines.iter().map(dot::print).collect::<String>()).unwrap(), machines);
    let error = print(Form::Local, &machines).unwrap_err();
    let expected = "the machine of `c`: it plays on demand, and the form cannot say that; use DOT";
    assert_eq!(error.to_string(), expected);
    let mermaid = print(Form::Mermaid, &machines[2..]).unwrap();
    assert_eq!(mermaid.matches("--> [*]").count(), 2, "{mermaid}");
}
