//! The table of cases, run by the explorer and by the paper's algorithm.

#![allow(clippy::expect_used, reason = "a test states what holds")]

use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::{Fsm, Verdict, subtype, system, verify};
use rumpsteak_oracle::cases::{CASES, Case, Outcome, Relation};
use rumpsteak_oracle::paper::{self, Answer};
use rumpsteak_oracle::{Coverage, FaultKind, Finding, Limits, Report, System, local};

const LIMITS: Limits = Limits { queue: 4, configurations: 20_000, steps: usize::MAX };

fn machine(case: &Case, role: &str, text: &str) -> Fsm {
    let machine = local(role, text).unwrap_or_else(|e| panic!("{}, {role}: {e}", case.name));
    assert_eq!(machine.check_directed(), Ok(()), "{}, {role}", case.name);
    machine
}

/// The machine of the role from `text`, and the machines of its peers.
fn machines(case: &Case, text: &str) -> Vec<Fsm> {
    let roles = std::iter::once((case.role, text)).chain(case.peers.iter().copied());
    roles.map(|(role, text)| machine(case, role, text)).collect()
}

fn system(case: &Case, text: &str) -> System {
    System::new(machines(case, text)).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

fn explore(system: &System) -> Report {
    let report = system.explore(&LIMITS);
    for Finding { fault, run } in &report.findings {
        let end = system.replay(run).expect("a run replays");
        if fault.kind().is_immediate() {
            assert!(system.faults(&end).contains(fault));
        }
    }
    report
}

#[test]
fn the_protocols_are_safe() {
    for case in CASES.iter() {
        let report = explore(&system(case, case.sup));
        assert_eq!(report.findings, [], "{}", case.name);
        assert!(report.coverage > Coverage::Partial, "{}", case.name);
    }
}

#[test]
fn the_rewritten_systems_do_what_the_table_says() {
    let mut wrong = vec![];
    for case in CASES.iter() {
        let system = system(case, case.sub);
        let report = explore(&system);
        // Faults of one configuration come before faults of all runs from it.
        let first = report
            .immediate()
            .or(report.finding(FaultKind::Abandoned))
            .or(report.finding(FaultKind::Starvation));
        let outcome = match first {
            Some(finding) => Outcome::Fault(finding.fault.kind()),
            None if report.coverage == Coverage::Partial => Outcome::Unending,
            None => Outcome::Safe,
        };
        if outcome != case.outcome {
            let run = first.map_or(String::new(), |f| system.describe(&f.run));
            wrong.push(format!("{}: {outcome:?}, not {:?}\n{run}", case.name, case.outcome));
        }
        // A subtype starves at worst: the rest would contradict soundness.
        if case.relation != Relation::NotSubtype {
            assert_eq!(report.immediate(), None, "{}", case.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_algorithm_of_the_paper_finds_what_the_table_says() {
    let mut wrong = vec![];
    for case in CASES.iter() {
        let sub = machine(case, case.role, case.sub);
        let sup = machine(case, case.role, case.sup);
        let least = (1..=4)
            .find(|&visits| paper::subtype(&sub, &sup, visits, 1_000_000) == Answer::Subtype);
        if least != case.visits {
            wrong.push(format!("{}: {least:?}, not {:?}", case.name, case.visits));
        }
        // It is sound.
        assert!(least.is_none() || case.relation == Relation::Subtype, "{}", case.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn subtyping_decides_what_the_table_says() {
    let mut wrong = vec![];
    for case in CASES.iter() {
        let sub = machine(case, case.role, case.sub);
        let sup = machine(case, case.role, case.sup);
        let verdict = subtype::check(&sub, &sup, &rumpsteak_fsm::Limits::default());
        let right = match (&verdict, case.relation) {
            (Ok(Verdict::Safe(_)), relation) => relation != Relation::NotSubtype,
            (Ok(Verdict::Unsafe(_)), relation) => relation == Relation::NotSubtype,
            (Ok(Verdict::Undecided(_)), relation) => relation == Relation::Unbounded,
            (Err(_), _) => false,
        };
        if !right {
            wrong.push(format!("{}: {verdict:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refusals_come_with_the_failure_that_the_table_names() {
    let mut wrong = vec![];
    for case in CASES.iter() {
        if case.relation != Relation::NotSubtype {
            continue;
        }
        let sub = machine(case, case.role, case.sub);
        let [sup, peers @ ..] = &*machines(case, case.sup) else {
            unreachable!("the role itself is one of them")
        };
        let verdict = verify(&sub, sup, peers, &rumpsteak_fsm::Limits::default());
        let Ok(Verdict::Unsafe(refused)) = &verdict else {
            wrong.push(format!("{}: {verdict:?}", case.name));
            continue;
        };
        let outcome = match &refused.evidence {
            verify::Evidence::Run(run) => failure(&run.failure),
            verify::Evidence::NoRun(coverage) if coverage.exhaustive => Outcome::Safe,
            _ => Outcome::Unending,
        };
        let expected = case.outcome;
        if !agree(outcome, expected) {
            wrong.push(format!("{}: {outcome:?}, not {expected:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn systems_do_what_the_table_says() {
    let mut wrong = vec![];
    for case in CASES.iter() {
        let system = system::System::new(machines(case, case.sub)).expect("a system");
        let exploration = system::explore(&system, &rumpsteak_fsm::Limits::default());
        let outcome = match (&exploration.verdict, &exploration.starvation) {
            (Verdict::Unsafe(run), _) | (_, Some(run)) => failure(&run.failure),
            (Verdict::Safe(()), None) => Outcome::Safe,
            (Verdict::Undecided(_), None) => Outcome::Unending,
        };
        if !agree(outcome, case.outcome) {
            wrong.push(format!("{}: {outcome:?}, not {:?}", case.name, case.outcome));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn failure(failure: &Failure) -> Outcome {
    Outcome::Fault(match failure {
        Failure::Deadlock => FaultKind::Deadlock,
        Failure::UnspecifiedReception { .. } => FaultKind::UnspecifiedReception,
        Failure::Orphan { .. } => FaultKind::Orphan,
        Failure::Starvation(_) | Failure::Neglect(_) | Failure::Never { .. } => {
            FaultKind::Starvation
        }
    })
}

/// The verifier has one name for a message to a finished role and a message that is never received.
/// It also calls a system unending that only grows without bound.
fn agree(outcome: Outcome, expected: Outcome) -> bool {
    match expected {
        Outcome::Fault(FaultKind::Abandoned) => outcome == Outcome::Fault(FaultKind::Orphan),
        Outcome::Safe => matches!(outcome, Outcome::Safe | Outcome::Unending),
        other => outcome == other,
    }
}
