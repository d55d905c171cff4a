//! One role against its protocol: what is refused, and what it leads to.

use rumpsteak_fsm::certificate::Certificate;
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::subtype::Rule;
use rumpsteak_fsm::system::explore;
use rumpsteak_fsm::verify::together::{Condition, Part, together};
use rumpsteak_fsm::verify::{
    Accepted, Evidence, Refused, VerifyError, certified, verify, verify_fair,
};
use rumpsteak_fsm::{Defect, Fsm, Limit, Limits, System, Verdict};

use crate::common;

const KERNEL: &str = "k: 0 s!ready 1, 1 s?value(i32) 2, 2 t?ready 3, 3 t!value(i32) 0";
const BUFFERS: &str = "
    s: 0 k?ready 1, 1 k!value(i32) 0
    t: 0 k!ready 1, 1 k?value(i32) 0";

/// Judges `written`, and replays the run of a refusal.
#[track_caller]
fn check(written: &str, projected: &str, peers: &str) -> Verdict<Accepted, Refused> {
    let (written, projected) = (common::machine(written), common::machine(projected));
    let peers = common::machines(peers);
    let verdict = verify(&written, &projected, &peers, &Limits::default()).unwrap();
    if let Verdict::Unsafe(Refused { evidence: Evidence::Run(run), .. }) = &verdict {
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
    let Verdict::Safe(Accepted { proof: Some(proof), .. }) = verdict else {
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
    let Refused { refusal, evidence, .. } = verdict.refusal().unwrap();
    let refusal = refusal.as_ref().unwrap();
    assert_eq!(refusal.rule, Rule::InputBeforeOutput);
    assert_eq!(refusal.rule.to_string(), "a receive may not overtake a send");
    assert_eq!(refusal.sub.map(|id| id.index()), Some(0));
    assert_eq!(refusal.sup.map(|id| id.index()), Some(0));
    let Evidence::Run(run) = evidence else { panic!("{evidence:?}") };
    assert_eq!(run.failure, Failure::Deadlock);
    assert_eq!(run.steps.len(), 2);
}

#[test]
fn a_refusal_that_is_safe_with_these_very_peers_says_so() {
    // t happens to send before it receives, so k may wait for it first; another t need not.
    let written = "k: 0 t?ready 1, 1 s!ready 2, 2 s?value(i32) 3, 3 t!value(i32) 0";
    let verdict = check(written, KERNEL, BUFFERS);
    let Refused { refusal, evidence, .. } = verdict.refusal().unwrap();
    assert_eq!(refusal.as_ref().unwrap().rule, Rule::InputBeforeOutput);
    let Evidence::NoRun(coverage) = evidence else { panic!("{evidence:?}") };
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
    let Refused { refusal, evidence, .. } = verdict.refusal().unwrap();
    assert_eq!(refusal.as_ref().unwrap().rule, Rule::Forgotten);
    let Evidence::Run(run) = evidence else { panic!("{evidence:?}") };
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
    let Refused { refusal, evidence, .. } = verdict.refusal().unwrap();
    assert_eq!(*refusal, None);
    let Evidence::Run(run) = evidence else { panic!("{evidence:?}") };
    assert_eq!(run.failure, Failure::UnspecifiedReception { from: "p".into(), to: "a".into() });
}

#[test]
fn a_machine_that_names_a_stranger_is_refused_without_a_run() {
    let verdict = check("a: 0 d!x 1", "a: 0 b!x 1", "b: 0 a?x 1");
    let Refused { evidence, .. } = verdict.refusal().unwrap();
    let Evidence::NoSystem(error) = evidence else { panic!("{evidence:?}") };
    assert_eq!(error.to_string(), "`a` talks to `d`, which has no machine; add it to the system");
}

#[test]
fn bad_input_is_no_verdict() {
    let judge = |written: &str, projected: &str, peers: &str| {
        let (written, projected) = (common::machine(written), common::machine(projected));
        verify(&written, &projected, &common::machines(peers), &Limits::default()).unwrap_err()
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
    let Verdict::Safe(Accepted { proof: Some(proof), .. }) = verdict else {
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
    let limits = Limits::default().widening(0);
    assert_eq!(
        verify(&written, &projected, &peers, &limits),
        Ok(Verdict::Undecided(Limit::Anticipation(limits.anticipation)))
    );
}

/// Accepted, with more and more pending; and safe among these peers, as far as queues of eight
/// messages tell.
#[track_caller]
fn unbounded(written: &str, projected: &str, peers: &str) {
    let verdict = check(written, projected, peers);
    let Verdict::Safe(Accepted { proof: Some(proof), .. }) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(proof.anticipation, None);
    let system = System::new([vec![common::machine(written)], common::machines(peers)].concat());
    let limits = Limits::default().queue(8);
    let exploration = explore(&system.unwrap(), &limits);
    assert_eq!(exploration.verdict.refusal(), None);
    assert_eq!(exploration.starvation, None);
}

/// Not accepted, because a run shows what goes wrong.
#[track_caller]
fn run_goes_wrong(written: &str, projected: &str, peers: &str) -> Failure {
    let verdict = check(written, projected, peers);
    match verdict.refusal() {
        Some(Refused { evidence: Evidence::Run(run), .. }) => run.failure.clone(),
        _ => panic!("{verdict:?}"),
    }
}

/// A ward that answers each report of a patient and files it with an archive.
const WARD: &str = "w: 0 p?report 1, 1 p!ok 2, 2 a!file 0, 0 p?done 3, 3 p!bye 4, 4 a!close 5";
const PATIENT_AND_ARCHIVE: &str = "
    p: 0 w!report 1, 1 w?ok 0, 0 w!done 2, 2 w?bye 3
    a: 0 w?file 0, 0 w?close 1";

#[test]
fn a_hospital_of_three_roles_may_read_later_and_later() {
    // The patient need not stop, and neither do the answers wait for the reports: two answers and
    // two files per report that is read.
    let endless = "w: 0 p?report 1, 0 p?alarm 1, 1 p!ok 2, 2 a!file 0";
    let peers = "
        p: 0 w!report 1, 0 w!alarm 1, 1 w?ok 0
        a: 0 w?file 0";
    unbounded(
        "w: 0 p!ok 1, 1 a!file 2, 2 p!ok 3, 3 a!file 4, 4 p?report 0, 4 p?alarm 0",
        endless,
        peers,
    );
    // In another order towards each peer.
    unbounded(
        "w: 0 a!file 1, 1 a!file 2, 2 p!ok 3, 3 p!ok 4, 4 p?report 0, 4 p?alarm 0",
        endless,
        peers,
    );
    // An alarm that is not read is lost.
    let forgets = "w: 0 p!ok 1, 1 a!file 2, 2 p!ok 3, 3 a!file 4, 4 p?report 0";
    let failure = run_goes_wrong(forgets, endless, peers);
    assert!(matches!(failure, Failure::UnspecifiedReception { .. }), "{failure:?}");
    // The patient may stop, so nothing is answered before its report is known to be one.
    let early = "w: 0 p!ok 1, 1 a!file 2, 2 p?report 0, 2 p?done 3, 3 p!bye 4, 4 a!close 5";
    let failure = run_goes_wrong(early, WARD, PATIENT_AND_ARCHIVE);
    assert!(matches!(failure, Failure::UnspecifiedReception { .. }), "{failure:?}");
}

#[test]
fn reports_of_two_patients_may_pile_up() {
    // Both are answered twice as often as they are heard.
    let projected = "w: 0 p?report 1, 1 p!ok 2, 2 q?report 3, 3 q!ok 0";
    let peers = "
        p: 0 w!report 1, 1 w?ok 0
        q: 0 w!report 1, 1 w?ok 0";
    let twice = "w: 0 p!ok 1, 1 q!ok 2, 2 p!ok 3, 3 q!ok 4, 4 p?report 5, 5 q?report 0";
    unbounded(twice, projected, peers);
    // Heard in the other order, which is free: they are from two roles.
    let other = "w: 0 p!ok 1, 1 q!ok 2, 2 p!ok 3, 3 q!ok 4, 4 q?report 5, 5 p?report 0";
    unbounded(other, projected, peers);
    // Only one of them is heard.
    let deaf = "w: 0 p!ok 1, 1 q!ok 2, 2 p!ok 3, 3 q!ok 4, 4 p?report 0";
    let verdict = check(deaf, projected, peers);
    let Refused { refusal, .. } = verdict.refusal().unwrap();
    assert_eq!(refusal.as_ref().unwrap().rule, Rule::Forgotten);
    // Their reports differ, and are taken for each other's.
    let mixed = "w: 0 p!ok 1, 1 q!ok 2, 2 p!ok 3, 3 q!ok 4, 4 p?report 5, 5 q?sample 0";
    assert!(check(mixed, projected, peers).refusal().is_some());
}

#[test]
fn what_is_told_to_two_roles_may_pile_up() {
    // Both are told later and later, each in the order of the protocol.
    let projected = "w: 0 a!in 1, 1 b!in 2, 2 p!ok 3, 3 a!out 4, 4 b!out 5, 5 p!ok 0";
    let peers = "
        a: 0 w?in 1, 1 w?out 0
        b: 0 w?in 1, 1 w?out 0
        p: 0 w?ok 0";
    unbounded(
        "w: 0 p!ok 1, 1 p!ok 2, 2 p!ok 3, 3 a!in 4, 4 b!in 5, 5 p!ok 6, 6 b!out 7, 7 a!out 0",
        projected,
        peers,
    );
    // One of them is told in the wrong order.
    let wrong =
        "w: 0 p!ok 1, 1 p!ok 2, 2 p!ok 3, 3 a!in 4, 4 b!out 5, 5 p!ok 6, 6 b!in 7, 7 a!out 0";
    let failure = run_goes_wrong(wrong, projected, peers);
    assert_eq!(failure, Failure::UnspecifiedReception { from: "w".into(), to: "b".into() });
    // Or not at all, for ever.
    let silent = "w: 0 p!ok 1, 1 p!ok 2, 2 a!in 3, 3 p!ok 4, 4 a!out 0";
    let failure = run_goes_wrong(silent, projected, peers);
    assert_eq!(failure, Failure::Starvation { role: "b".into() });
}

#[test]
fn a_report_is_not_read_while_something_is_to_be_told() {
    // What the archive is told piles up; then reading waits for the archive, and another one might
    // wait for us.
    let projected = "w: 0 a!file 1, 1 p?report 2, 2 p!ok 0";
    let written = "w: 0 p!ok 1, 1 p!ok 2, 2 p?report 3, 3 a!file 0";
    let peers = "
        a: 0 w?file 0
        p: 0 w!report 1, 1 w?ok 0";
    let verdict = check(written, projected, peers);
    let Refused { refusal, .. } = verdict.refusal().unwrap();
    assert_eq!(refusal.as_ref().unwrap().rule, Rule::InputBeforeOutput);
}

/// `c` hears from two roles at once: which of them comes first decides.
const TWO_SPEAKERS: &str = "
    b: 0 a?l 1, 0 a?s 2, 1 c!m 2
    c: 0 b?m 1, 0 a?r 3, 1 a!n 2, 2 a?r 3, 3 a!fin 4";
const FIRST_SPEAKER: &str = "a: 0 b!l 1, 0 b!s 2, 1 c?n 2, 2 c!r 3, 3 c?fin 4";

#[test]
fn a_send_that_overtakes_may_be_heard_first_by_a_peer_that_hears_two() {
    // `r` before `n`: a subtype, and `c` takes the branch of `s`.
    let early = "a: 0 b!l 1, 0 b!s 2, 1 c!r 3, 2 c!r 4, 3 c?n 4, 4 c?fin 5";
    let (sub, sup) = (common::machine(early), common::machine(FIRST_SPEAKER));
    let subtyping = certified(&sub, &sup, &Limits::default()).unwrap();
    assert!(subtyping.is_safe());
    let verdict = check(early, FIRST_SPEAKER, TWO_SPEAKERS);
    let Refused { refusal, condition, evidence } = verdict.refusal().unwrap();
    assert_eq!(*refusal, None);
    let Some(Condition::UndirectedPeer { peer, defect }) = condition else {
        panic!("{condition:?}");
    };
    assert_eq!(peer.as_str(), "c");
    assert!(matches!(defect, Defect::Undirected { .. }), "{defect}");
    let Evidence::Run(run) = evidence else { panic!("{evidence:?}") };
    let expected = Failure::UnspecifiedReception { from: "c".into(), to: "a".into() };
    assert_eq!(run.failure, expected);

    // What is done at its turn needs no directed peer, and fewer options need none either.
    for written in
        [FIRST_SPEAKER, "a: 0 b!s 2, 2 c!r 3, 3 c?fin 4", "a: 0 b!l 1, 1 c?n 2, 2 c!r 3, 3 c?fin 4"]
    {
        let verdict = check(written, FIRST_SPEAKER, TWO_SPEAKERS);
        assert!(verdict.is_safe(), "{written}: {verdict:?}");
    }
    // `d` is told early, which `c` does not notice: safe, with these very peers.
    let told = "a: 0 b!l 1, 0 b!s 2, 1 c?n 2, 2 c!r 3, 3 c?fin 4, 4 d!bye 5";
    let early = "a: 0 b!l 1, 0 b!s 2, 1 c?n 2, 2 c!r 3, 3 d!bye 4, 4 c?fin 5";
    let peers = format!("{TWO_SPEAKERS} \n d: 0 a?bye 1");
    let verdict = check(early, told, &peers);
    let Verdict::Safe(Accepted { condition, .. }) = &verdict else {
        panic!("{verdict:?}");
    };
    assert!(matches!(
        condition,
        Some(Condition::UndirectedPeer { peer, .. }) if peer.as_str() == "c"
    ));
}

#[test]
fn an_option_that_is_never_taken_may_be_the_one_in_which_a_message_is_received() {
    let peers = "
        a: 0 b!result(i32) 1
        c: 0 b!go 1, 1 b?again 0, 1 b?stop 2";
    let projected = "b: 0 c?go 1, 1 c!again 0, 1 c!stop 2, 2 a?result(i32) 3";
    let again = "b: 0 c?go 1, 1 c!again 0";
    let verdict = check(again, projected, peers);
    let Refused { refusal, condition, evidence } = verdict.refusal().unwrap();
    assert_eq!(*refusal, None);
    let Some(Condition::NarrowedChoice { state, option }) = condition else {
        panic!("{condition:?}");
    };
    assert_eq!((state.index(), option.to_string()), (1, "c!stop".to_owned()));
    let Evidence::Run(run) = evidence else { panic!("{evidence:?}") };
    assert_eq!(run.steps.len(), 1);
    let expected = Failure::Orphan { from: "a".into(), to: "b".into() };
    assert_eq!(run.failure, expected);

    // Once is enough, and so is never going round.
    for written in [
        "b: 0 c?go 1, 1 c!again 2, 2 c?go 3, 3 c!stop 4, 4 a?result(i32) 5",
        "b: 0 c?go 1, 1 c!stop 2, 2 a?result(i32) 3",
    ] {
        let verdict = check(written, projected, peers);
        assert!(verdict.is_safe(), "{written}: {verdict:?}");
    }
    // A stream that nobody reads, without a bound.
    let stream = "
        a: 0 b!item(i32) 0, 0 b!fin 1
        c: 0 b!go 1, 1 b?again 0, 1 b?stop 2";
    let projected = "b: 0 c?go 1, 1 c!again 0, 1 c!stop 2, 2 a?item(i32) 2, 2 a?fin 3";
    let verdict = check(again, projected, stream);
    let Some(Refused { evidence: Evidence::Run(run), .. }) = verdict.refusal() else {
        panic!("{verdict:?}");
    };
    assert_eq!(run.failure, expected);
}

#[test]
fn options_may_be_left_out_by_a_machine_that_runs_ahead_without_a_bound() {
    // `ko` is never said, and the answers run ahead of the questions. The machines have infinitely
    // many configurations; what decides are those of the projection without `ko`.
    let written = "a: 0 p!ok 1, 1 p!ok 2, 2 p?data 0";
    let projected = "a: 0 p?data 1, 1 p!ok 0, 1 p!ko 0";
    let verdict = check(written, projected, "p: 0 a!data 1, 1 a?ok 0, 1 a?ko 0");
    let Verdict::Safe(Accepted { condition, .. }) = &verdict else {
        panic!("{verdict:?}");
    };
    assert!(matches!(condition, Some(Condition::NarrowedChoice { .. })));
}

/// `b` never stops, so that `a` and `d` wait for ever; `d` sends to `a` before that wait is over.
/// Each is harmless among the projections, and together they lose a message.
#[test]
fn subtypes_that_are_harmless_alone_are_judged_together() {
    let projections = common::machines(
        "a: 0 b?go 1, 1 d?note 2
         b: 0 c!more 0, 0 c!stop 1, 1 d!done 2, 2 a!go 3
         c: 0 b?more 0, 0 b?stop 1
         d: 0 b?done 1, 1 a!note 2",
    );
    let narrow = common::machine("b: 0 c!more 0");
    let early = common::machine("d: 0 a!note 1, 1 b?done 2");
    let limits = Limits::default();
    let prove = |sub: &Fsm, sup: &Fsm| match certified(sub, sup, &limits).unwrap() {
        Verdict::Safe(proof) => proof,
        other => panic!("{other:?}"),
    };
    let [a, b, c, d] = &projections[..] else {
        unreachable!("there are four");
    };
    let (narrows, anticipates) = (prove(&narrow, b), prove(&early, d));
    let [a, c] = [a, c].map(Part::projection);
    let narrow = Part::new(&narrow, b, Some(&narrows));
    let early = Part::new(&early, d, Some(&anticipates));

    let found = together(&[a, narrow, c, Part::projection(d)], &limits).unwrap();
    assert_eq!(found.verdict, Verdict::Safe(()));
    let expected = Failure::Starvation { role: "a".into() };
    assert_eq!(found.starvation.unwrap().failure, expected);

    let found = together(&[a, Part::projection(b), c, early], &limits).unwrap();
    assert_eq!((found.verdict, found.starvation), (Verdict::Safe(()), None));
    assert_eq!(found.condition, None);

    let found = together(&[a, narrow, c, early], &limits).unwrap();
    let run = found.verdict.refusal().unwrap();
    let expected = Failure::Orphan { from: "d".into(), to: "a".into() };
    assert_eq!((&run.failure, run.steps.len()), (&expected, 1));
    assert!(matches!(found.condition, Some((1, Condition::NarrowedChoice { .. }))));
}

/// The patient of `examples/hospital.rs`: after a refusal only data is sent, so an option is left
/// out there; and it runs ahead without a bound. Whatever is chosen, every message is received.
#[test]
fn options_may_be_left_out_now_and_then_where_every_run_receives_everything() {
    let verdict = check(
        "p: 0 h!data 1, 0 h!ask 3, 1 h?ok 0, 1 h?ko 2, 2 h!data 0, 3 h?ok 3, 3 h?ko 3, 3 h?report 0",
        "p: 0 h!data 1, 0 h!ask 2, 1 h?ok 0, 1 h?ko 0, 2 h?report 0",
        "h: 0 p?data 1, 0 p?ask 2, 1 p!ok 0, 1 p!ko 0, 2 p!report 0",
    );
    let Verdict::Safe(Accepted { proof: Some(proof), condition }) = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(proof.anticipation, None);
    let Some(Condition::NarrowedChoice { option, .. }) = condition else {
        panic!("{condition:?}");
    };
    assert_eq!(option.to_string(), "h!ask");
}

/// Whether the fair relation accepts a machine among its peers, and with what condition.
fn fair(written: &str, projected: &str, peers: &str) -> Option<Accepted> {
    let (written, projected) = (common::machine(written), common::machine(projected));
    let peers = common::machines(peers);
    verify_fair(&written, &projected, &peers, &Limits::default()).unwrap()
}

#[test]
fn the_fair_relation_is_asked_of_peers_that_are_fair_safe() {
    let projected = "p: 0 h!nd 1, 0 h!pr 2, 1 h?ok 0, 1 h?ko 0, 2 h?fin 3";
    let patient = "p: 0 h!nd 0, 0 h!pr 1, 1 h?ok 1, 1 h?ko 1, 1 h?fin 2";
    let hospital = "h: 0 p?nd 1, 0 p?pr 2, 1 p!ok 0, 1 p!ko 0, 2 p!fin 3";
    let Verdict::Unsafe(refused) = check(patient, projected, hospital) else {
        panic!("answers may be put off for ever");
    };
    assert_eq!(refused.refusal.unwrap().rule, Rule::Forgotten);
    let accepted = fair(patient, projected, hospital).unwrap();
    assert!(accepted.proof.as_ref().unwrap().is_fair());
    assert_eq!((accepted.proof.as_ref().unwrap().left(), accepted.condition), (&[][..], None));
    // What the protocol itself does not promise, nobody can keep.
    let deaf = "h: 0 p?nd 1, 1 p!ok 0";
    assert_eq!(fair(patient, projected, deaf), None);

    // An option that is left out is refused in both: the orphan of a narrowed choice.
    let peers = "a: 0 b!result 1 \n c: 0 b!go 1, 1 b?again 0, 1 b?stop 2";
    let projected = "b: 0 c?go 1, 1 c!again 0, 1 c!stop 2, 2 a?result 3";
    let again = "b: 0 c?go 1, 1 c!again 0";
    assert!(check(again, projected, peers).refusal().is_some());
    assert_eq!(fair(again, projected, peers), None);
}

#[test]
fn peers_must_let_a_role_leave_its_loop_of_receives() {
    let projected = "g: 0 s?tc 0, 0 s?done 1, 1 s!tm 1, 1 s!over 2";
    let written = "g: 0 s!tm 0, 0 s!over 1, 1 s?tc 1, 1 s?done 2";
    let ends = "s: 0 g!tc 0, 0 g!done 1, 1 g?tm 1, 1 g?over 2";
    let accepted = fair(written, projected, ends).unwrap();
    assert_eq!(accepted.proof.as_ref().unwrap().left(), [common::machine(projected).initial()]);
    // These are fair-safe with the projection, too; and with the machine, nobody reads `tm`.
    assert_eq!(fair(written, projected, "s: 0 g!tc 0"), None);
    // Another role leaves out the option that would end the loop.
    let (projections, s) = (common::machines(&format!("{projected} \n {ends}")), "s: 0 g!tc 0");
    let (written, s) = (common::machine(written), common::machine(s));
    let Verdict::Safe(narrowed) = certified(&s, &projections[1], &Limits::default()).unwrap()
    else {
        panic!("a narrowed choice is a subtype");
    };
    let parts = [
        Part::new(&written, &projections[0], accepted.proof.as_ref()),
        Part::new(&s, &projections[1], Some(&narrowed)),
    ];
    let found = together(&parts, &Limits::default()).unwrap();
    assert!(!found.verdict.is_safe(), "{found:?}");
}

#[test]
fn a_peer_that_hears_several_roles_is_no_context_of_the_fair_relation() {
    let early = "a: 0 b!l 1, 0 b!s 2, 1 c!r 3, 2 c!r 4, 3 c?n 4, 4 c?fin 5";
    assert_eq!(fair(early, FIRST_SPEAKER, TWO_SPEAKERS), None);
}

/// A pool: `d` gives a job to `a` or `b`, whichever it likes, and takes what comes first.
const POOL: &str = "
    a: 0 d?run 1, 1 d!done 0, 0 d?stop 2
    b: 0 d?run 1, 1 d!done 0, 0 d?stop 2";
const CHOOSER: &str = "d: 0 a!run 1, 0 b!run 2, 0 a!stop 3, 1 a?done 0, 2 b?done 0, 3 b!stop 4";

#[test]
fn a_machine_that_chooses_among_peers_is_accepted_at_its_turn() {
    // Once round the loop in other states, and `a` alone gets a job the second time.
    let unrolled =
        "d: 0 a!run 1, 0 b!run 2, 1 a?done 3, 2 b?done 3, 3 a!run 1, 3 a!stop 4, 4 b!stop 5";
    for (written, narrowed) in [(CHOOSER, false), (unrolled, true)] {
        let verdict = check(written, CHOOSER, POOL);
        let Verdict::Safe(Accepted { proof: Some(proof), condition }) = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!(proof.anticipation, Some(0));
        assert!(matches!(proof.certificate(), Certificate::Steps(_)));
        assert_eq!(matches!(condition, Some(Condition::NarrowedChoice { .. })), narrowed);
    }
}

#[test]
fn a_machine_of_several_peers_that_does_something_early_is_judged_with_its_peers() {
    // Both have a job before an answer is taken, from whoever comes first.
    let both = "d: 0 a!run 1, 1 b!run 2, 2 a?done 3, 2 b?done 4, 3 b?done 5, 4 a?done 5, \
                5 a!stop 6, 6 b!stop 7";
    let verdict = check(both, CHOOSER, POOL);
    let Verdict::Safe(Accepted { proof: None, condition }) = verdict else { panic!("{verdict:?}") };
    assert!(matches!(condition, Some(Condition::Undirected { .. })));
    // As above, but `b` is never told that it is over.
    let silent = both.replace(", 6 b!stop 7", "");
    let verdict = check(&silent, CHOOSER, POOL);
    let Some(Refused { refusal: None, evidence: Evidence::Run(run), .. }) = verdict.refusal()
    else {
        panic!("{verdict:?}");
    };
    assert_eq!(run.failure, Failure::Deadlock);
    // A peer that the protocol does not have.
    let verdict = check(&both.replace("a!stop", "z!stop"), CHOOSER, POOL);
    let Some(Refused { evidence: Evidence::NoSystem(_), .. }) = verdict.refusal() else {
        panic!("{verdict:?}");
    };
}

#[test]
fn what_takes_more_than_the_protocol_says_from_several_peers_is_no_step_of_it() {
    // `c` takes `r` of `a` for what it is, or, where it must not, before `n`.
    let projected = "c: 0 b?m 1, 0 a?r 2, 1 a?n 3, 3 a?r 2";
    let peers = "
        a: 0 b!l 1, 0 b!s 2, 1 c!n 2, 2 c!r 3
        b: 0 a?l 1, 0 a?s 2, 1 c!m 2";
    assert!(check(projected, projected, peers).is_safe());
    let greedy = "c: 0 b?m 1, 0 a?r 2, 0 a?n 3, 1 a?n 4, 4 a?r 2, 3 a?r 2";
    let verdict = check(greedy, projected, peers);
    let Some(Refused { evidence: Evidence::Run(run), .. }) = verdict.refusal() else {
        panic!("{verdict:?}");
    };
    assert_eq!(run.failure, Failure::Orphan { from: "b".into(), to: "c".into() });
}

#[test]
fn a_state_that_sends_and_receives_is_a_step_of_the_same_state_only() {
    let peers = "b: 0 a?x 1, 0 a!y 2, 1 a!y 3, 2 a?x 3";
    let both = "a: 0 b!x 1, 0 b?y 2, 1 b?y 3, 2 b!x 3";
    let verdict = check(both, both, peers);
    let Verdict::Safe(Accepted { proof: Some(_), condition: None }) = verdict else {
        panic!("{verdict:?}");
    };
    // Waiting is another machine, which the peers happen to bear.
    let verdict = check("a: 0 b!x 1, 1 b?y 3", both, peers);
    assert!(matches!(verdict, Verdict::Safe(Accepted { proof: None, condition: Some(_) })));
}
