//! One role against its protocol: what is accepted, what is refused, and what that leads to.
//!
//! `cases/verify.md` has prose and, in fences, roles with the answers:
//!
//! ```text
//! written a: 0 b!x 1          the machine that is judged, as transitions or as a local type
//! projected a: b!x; end       what the protocol says of its role
//! b: a?x; end                 the projections onto the other roles
//! limit widening 0            a setting of `Limits`; the others are the defaults
//! = every run: …              `verify`: the proof or the refusal, the condition, the run
//! = fair: …                   `verify_fair`
//! ```
//!
//! With `UPDATE_EXPECT=1` the answers are rewritten, to be read in the diff.

use std::fs;

use expect_test::expect_file;
use rumpsteak_fsm::certificate::Certificate;
use rumpsteak_fsm::machine::Action;
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::system::{Coverage, explore};
use rumpsteak_fsm::verify::together::{Condition, Part, together};
use rumpsteak_fsm::verify::{
    Accepted, Evidence, Refused, VerifyError, believed, certified, certified_fair, verify,
    verify_fair,
};
use rumpsteak_fsm::{Fsm, Limits, System, Verdict};

use crate::common;
use crate::common::pairs::{answers, limit, machine, path, refused};
use crate::systems::failed;

#[test]
fn each_role_has_its_answers() {
    let path = path("verify.md");
    let document = fs::read_to_string(&path).unwrap();
    expect_file![path].assert_eq(&answers(&document, "roles", answer));
}

fn answer(case: &str) -> String {
    let mut lines: Vec<String> =
        case.lines().filter(|line| !line.starts_with("= ")).map(str::to_owned).collect();
    let (mut written, mut projected) = (None, None);
    let (mut peers, mut limits) = (vec![], Limits::default());
    for line in &lines {
        match line.split_once(' ').unwrap() {
            ("written", rest) => written = Some(machine(rest)),
            ("projected", rest) => projected = Some(machine(rest)),
            ("limit", rest) => limits = limit(limits, rest),
            _ => peers.push(machine(line)),
        }
    }
    let (written, projected) = (written.unwrap(), projected.unwrap());
    let system = System::new([vec![written.clone()], peers.clone()].concat());
    let said = match verify(&written, &projected, &peers, &limits) {
        Ok(Verdict::Safe(found)) => {
            // Nothing goes wrong among these peers, as far as queues of eight messages tell.
            let explored = explore(&system.unwrap(), &Limits::default().queue(8));
            assert_eq!(explored.verdict.refusal(), None, "{case}");
            let starvation = explored.starvation.map(|run| format!("; but {}", run.failure));
            accepted(&found) + &starvation.unwrap_or_default()
        }
        Ok(Verdict::Unsafe(Refused { refusal, condition, evidence })) => {
            let refusal = refusal.map(|refusal| refused(&written, &projected, &refusal));
            let evidence = match evidence {
                Evidence::Run(run) => failed(&system.unwrap(), &run),
                Evidence::NoRun(Coverage { exhaustive: true, bound, .. }) => {
                    format!("no run goes wrong, all are seen at bound {bound}")
                }
                Evidence::NoRun(_) => "no run was found that goes wrong".to_owned(),
                Evidence::NoSystem(error) => error.to_string(),
            };
            let condition = condition.as_ref().map(because);
            let refusal = refusal.into_iter().chain(condition).chain([evidence]);
            format!("no: {}", refusal.collect::<Vec<_>>().join("; "))
        }
        Ok(Verdict::Undecided(limit)) => format!("undecided: {limit}"),
        Err(error @ VerifyError::Machine(_)) => format!("no machine: {error}"),
        Err(error) => error.to_string(),
    };
    lines.push(format!("= every run: {said}"));
    if let Ok(found) = verify_fair(&written, &projected, &peers, &limits) {
        let said = found.map_or("not known".to_owned(), |found| accepted(&found));
        lines.push(format!("= fair: {said}"));
    }
    lines.join("\n")
}

fn accepted(Accepted { proof, condition }: &Accepted) -> String {
    let mut text = match proof {
        None => "yes, with these peers".to_owned(),
        Some(proof) => {
            let by = match proof.certificate() {
                Certificate::Derivation(derivation) => {
                    assert_eq!(derivation.situations.len(), proof.situations);
                    "situations"
                }
                Certificate::Invariant(invariant) => {
                    assert_eq!(invariant.judgements.len(), proof.situations);
                    "judgements"
                }
                Certificate::Fair(_) => "fair judgements",
                Certificate::Steps(_) => "steps",
            };
            let most = proof.anticipation.map(|most| format!("at most {most} pending"));
            let most = most.unwrap_or("any number pending".to_owned());
            format!("yes, {most}, {} {by}", proof.situations)
        }
    };
    for state in proof.iter().flat_map(|proof| proof.left()) {
        text += &format!("; state {state} is left");
    }
    condition.iter().for_each(|condition| text += &format!("; {}", because(condition)));
    text
}

fn because(condition: &Condition) -> String {
    match condition {
        Condition::NarrowedChoice(state, option) => {
            format!("state {state} leaves out {option}")
        }
        Condition::Undirected(defect) => format!("it is not directed: {defect}"),
        Condition::UndirectedPeer(peer, defect) => format!("{peer} is not directed: {defect}"),
    }
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
    let expected = Failure::Starvation("a".into());
    assert_eq!(found.starvation.unwrap().failure, expected);
    assert!(found.alone);

    let found = together(&[a, Part::projection(b), c, early], &limits).unwrap();
    assert_eq!((found.verdict, found.starvation), (Verdict::Safe(()), None));
    assert_eq!((found.condition, found.alone), (None, false));

    let found = together(&[a, narrow, c, early], &limits).unwrap();
    let run = found.verdict.refusal().unwrap();
    let expected = Failure::Orphan { from: "d".into(), to: "a".into() };
    assert_eq!((&run.failure, run.steps.len()), (&expected, 1));
    assert!(matches!(found.condition, Some((1, Condition::NarrowedChoice(..)))));
}

/// `b` may leave out options that no role waits for, whatever the others leave out.
#[test]
fn an_option_that_nobody_needs_is_left_out_with_any_others() {
    let projections = common::machines(
        "a: 0 b!go 1, 1 b?yes 0, 1 b?no 0
         b: 0 a?go 1, 1 a!yes 0, 1 a!no 0",
    );
    let narrow = common::machine("b: 0 a?go 1, 1 a!yes 0");
    let limits = Limits::default();
    let Verdict::Safe(proof) = certified(&narrow, &projections[1], &limits).unwrap() else {
        panic!("a narrowed choice is a subtype");
    };
    let parts =
        [Part::projection(&projections[0]), Part::new(&narrow, &projections[1], Some(&proof))];
    let found = together(&parts, &limits).unwrap();
    assert_eq!((found.verdict, found.starvation), (Verdict::Safe(()), None));
    assert!(matches!(found.condition, Some((1, Condition::NarrowedChoice(..)))));
    assert!(!found.alone);
}

#[test]
fn a_role_is_not_left_in_its_loop_by_a_subtype_of_its_peer() {
    let projections = common::machines(
        "g: 0 s?tc 0, 0 s?done 1, 1 s!tm 1, 1 s!over 2
         s: 0 g!tc 0, 0 g!done 1, 1 g?tm 1, 1 g?over 2",
    );
    let written = common::machine("g: 0 s!tm 0, 0 s!over 1, 1 s?tc 1, 1 s?done 2");
    // The option that would end the loop is left out.
    let s = common::machine("s: 0 g!tc 0");
    let limits = Limits::default();
    let Verdict::Safe(narrowed) = certified(&s, &projections[1], &limits).unwrap() else {
        panic!("a narrowed choice is a subtype");
    };
    let fair = certified_fair(&written, &projections[0], &limits).unwrap();
    let parts = [
        Part::new(&written, &projections[0], fair.as_ref()),
        Part::new(&s, &projections[1], Some(&narrowed)),
    ];
    let found = together(&parts, &limits).unwrap();
    assert!(fair.is_some() && !found.verdict.is_safe(), "{found:?}");
}

fn cycle(actions: &[Action]) -> Fsm {
    let mut builder = Fsm::builder("m");
    let states: Vec<_> = actions.iter().map(|_| builder.add_state()).collect();
    for (at, action) in actions.iter().enumerate() {
        builder.add_transition(states[at], action.clone(), states[(at + 1) % states.len()]);
    }
    builder.build(states[0])
}

/// If an engine were wrong, its proof would be about another pair.
#[test]
fn a_proof_of_something_else_is_not_believed() {
    let (ask, answer) = (Action::receive("p", "ask", &[]), Action::send("p", "ok", &[]));
    let sup = cycle(&[ask.clone(), answer.clone()]);
    let ahead = cycle(&[answer.clone(), ask.clone()]);
    let twice = cycle(&[answer.clone(), answer, ask]);
    // With a bound, and without.
    for sub in [ahead, twice] {
        let Verdict::Safe(proof) = certified(&sub, &sup, &Limits::default()).unwrap() else {
            panic!("{sub:?}");
        };
        assert_eq!(believed(proof.clone(), &sub, &sup), Ok(proof.clone()));
        let error = believed(proof, &sup, &sub).unwrap_err();
        let text = error.to_string();
        let expected = "the verifier's answer is not believed, because its evidence is wrong: the certificate is not valid at rule ";
        assert!(text.starts_with(expected), "{text}");
    }
}
