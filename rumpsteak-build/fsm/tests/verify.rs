//! One role against its protocol: what is refused, and what it leads to.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "an unwrap in a test is an assertion"
)]

mod common;

use rumpsteak_fsm::{
    Limit, Limits, System, Verdict,
    certificate::Certificate,
    run::Failure,
    subtype::{Proof, Rule},
    verify::{Evidence, Refused, VerifyError, verify},
};

const KERNEL: &str = "k: 0 s!ready 1, 1 s?value(i32) 2, 2 t?ready 3, 3 t!value(i32) 0";
const BUFFERS: &str = "
    s: 0 k?ready 1, 1 k!value(i32) 0
    t: 0 k!ready 1, 1 k?value(i32) 0";

/// Judges `written`, and replays the run of a refusal.
#[track_caller]
fn check(written: &str, projected: &str, peers: &str) -> Verdict<Proof, Refused> {
    let (written, projected) = (common::machine(written), common::machine(projected));
    let peers = common::machines(peers);
    let verdict = verify(&written, &projected, &peers, &Limits::default()).unwrap();
    if let Verdict::Unsafe(Refused {
        evidence: Evidence::Run(run),
        ..
    }) = &verdict
    {
        let system = System::new([vec![written], peers].concat()).unwrap();
        assert_eq!(run.replay(&system), Ok(()), "{run:?}");
    }
    verdict
}

#[test]
fn a_safe_reordering_is_accepted() {
    // The value is passed on without waiting for the sink: a send before a receive.
    let written = "k: 0 s!ready 1, 1 s?value(i32) 2, 2 t!value(i32) 3, 3 t?ready 0";
    let verdict = check(written, KERNEL, BUFFERS);
    let Verdict::Safe(proof) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!((proof.anticipation, proof.situations), (Some(1), 1));
    // The evidence, which `verify` has checked.
    let Certificate::Derivation(derivation) = proof.certificate() else {
        panic!("{proof:?}");
    };
    assert_eq!(derivation.situations.len(), 1);
}

#[test]
fn an_unsafe_reordering_comes_with_the_shortest_run() {
    let written = "k: 0 t?ready 1, 1 s?value(i32) 2, 2 s!ready 3, 3 t!value(i32) 0";
    let verdict = check(written, KERNEL, BUFFERS);
    let Refused { refusal, evidence } = verdict.refusal().unwrap();
    let refusal = refusal.as_ref().unwrap();
    assert_eq!(refusal.rule, Rule::InputBeforeOutput);
    assert_eq!(
        refusal.rule.to_string(),
        "a receive may not overtake a send"
    );
    assert_eq!(refusal.sub.map(|id| id.index()), Some(0));
    assert_eq!(refusal.sup.map(|id| id.index()), Some(0));
    let Evidence::Run(run) = evidence else {
        panic!("{evidence:?}")
    };
    assert_eq!(run.failure, Failure::Deadlock);
    assert_eq!(run.steps.len(), 2);
}

#[test]
fn a_refusal_that_is_safe_with_these_very_peers_says_so() {
    // t happens to send before it receives, so k may wait for it first; another t need not.
    let written = "k: 0 t?ready 1, 1 s!ready 2, 2 s?value(i32) 3, 3 t!value(i32) 0";
    let verdict = check(written, KERNEL, BUFFERS);
    let Refused { refusal, evidence } = verdict.refusal().unwrap();
    assert_eq!(refusal.as_ref().unwrap().rule, Rule::InputBeforeOutput);
    let Evidence::NoRun(coverage) = evidence else {
        panic!("{evidence:?}")
    };
    assert!(coverage.exhaustive);
    assert_eq!(coverage.bound, 1);
}

#[test]
fn a_refusal_whose_only_harm_is_waiting_for_ever_shows_that() {
    let verdict = check(
        "a: 0 b!go 0",
        "a: 0 b!go 0, 0 b!stop 1, 1 c!bye 2",
        "b: 0 a?go 0, 0 a?stop 1
         c: 0 a?bye 1",
    );
    // Narrowing the choice is subtyping; c starves, but that is for the whole system to find.
    assert!(verdict.is_safe());
    let verdict = check(
        "a: 0 b!go 0",
        "a: 0 c!hi 1, 1 b!go 1",
        "b: 0 a?go 0
         c: 0 a?hi 1",
    );
    let Refused { refusal, evidence } = verdict.refusal().unwrap();
    assert_eq!(refusal.as_ref().unwrap().rule, Rule::Forgotten);
    let Evidence::Run(run) = evidence else {
        panic!("{evidence:?}")
    };
    assert_eq!(run.failure, Failure::Starvation { role: "c".into() });
}

#[test]
fn what_subtyping_leaves_undecided_a_run_may_decide() {
    // Undecided by itself (see the tests of subtyping), and p goes wrong.
    let (written, projected) = (
        "a: 0 q?go 0, 0 q?stop 1, 1 p?ok 1, 1 p?end 2",
        "a: 0 q?go 1, 1 p?ok 0, 0 q?stop 2, 2 p?end 3",
    );
    let verdict = check(
        written,
        projected,
        "p: 0 q?go 1, 1 a!ok 0, 0 q?stop 2, 2 a!end 3
         q: 0 a!go 1, 1 p!go 0, 0 a!stop 2, 2 p!stop 3",
    );
    assert!(matches!(verdict, Verdict::Undecided(_)), "{verdict:?}");
    let verdict = check(
        written,
        projected,
        "p: 0 q?go 1, 1 a!ok 0, 0 q?stop 2, 2 a!finish 3
         q: 0 a!go 1, 1 p!go 0, 0 a!stop 2, 2 p!stop 3",
    );
    let Refused { refusal, evidence } = verdict.refusal().unwrap();
    assert_eq!(*refusal, None);
    let Evidence::Run(run) = evidence else {
        panic!("{evidence:?}")
    };
    assert_eq!(
        run.failure,
        Failure::UnspecifiedReception {
            from: "p".into(),
            to: "a".into()
        }
    );
}

#[test]
fn a_machine_that_names_a_stranger_is_refused_without_a_run() {
    let verdict = check("a: 0 d!x 1", "a: 0 b!x 1", "b: 0 a?x 1");
    let Refused { evidence, .. } = verdict.refusal().unwrap();
    let Evidence::NoSystem(error) = evidence else {
        panic!("{evidence:?}")
    };
    assert_eq!(
        error.to_string(),
        "`a` talks to `d`, which has no machine; add it to the system"
    );
}

#[test]
fn bad_input_is_no_verdict() {
    let judge = |written: &str, projected: &str, peers: &str| {
        let (written, projected) = (common::machine(written), common::machine(projected));
        verify(
            &written,
            &projected,
            &common::machines(peers),
            &Limits::default(),
        )
        .unwrap_err()
    };
    let error = judge("a: 0 b!x 1, 0 b!x 2", "a: 0 b!x 1", "b: 0 a?x 1");
    assert!(matches!(error, VerifyError::Machine(_)));
    let error = judge("a: 0 b!y 1", "a: 0 b!x 1", "");
    assert_eq!(
        error.to_string(),
        "the projections make no system: `a` talks to `b`, which has no machine; add it to the system"
    );
}

#[test]
fn anticipation_without_bound_is_accepted_with_its_certificate() {
    // Two answers for each question read, so the questions pile up without bound.
    let written = "a: 0 p!ok 1, 1 p!ok 2, 2 p?data 0";
    let projected = "a: 0 p?data 1, 1 p!ok 0, 1 p!ko 0";
    let verdict = check(written, projected, "p: 0 a!data 1, 1 a?ok 0, 1 a?ko 0");
    let Verdict::Safe(proof) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(proof.anticipation, None);
    let Certificate::Invariant(invariant) = proof.certificate() else {
        panic!("{proof:?}");
    };
    assert_eq!(invariant.judgements.len(), proof.situations);

    // Where it is switched off, the limit of the search that remembers everything is named.
    let [written, projected] = [written, projected].map(common::machine);
    let peers = common::machines("p: 0 a!data 1, 1 a?ok 0, 1 a?ko 0");
    let limits = Limits {
        widening: 0,
        ..Limits::default()
    };
    assert_eq!(
        verify(&written, &projected, &peers, &limits),
        Ok(Verdict::Undecided(Limit::Anticipation(limits.anticipation)))
    );
}
