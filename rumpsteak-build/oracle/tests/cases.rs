//! The table of cases, run by the explorer and by the paper's algorithm.

use rumpsteak_fsm::Fsm;
use rumpsteak_oracle::{
    Coverage, FaultKind, Finding, Limits, Report, System,
    cases::{CASES, Case, Outcome, Relation},
    local,
    paper::{self, Answer},
};

const LIMITS: Limits = Limits {
    queue: 4,
    configurations: 20_000,
    steps: usize::MAX,
};

fn machine(case: &Case, role: &str, text: &str) -> Fsm {
    let machine = local(role, text).unwrap_or_else(|e| panic!("{}, {role}: {e}", case.name));
    assert_eq!(machine.check_directed(), Ok(()), "{}, {role}", case.name);
    machine
}

fn system(case: &Case, text: &str) -> System {
    let mut machines = vec![machine(case, case.role, text)];
    machines.extend(
        case.peers
            .iter()
            .map(|(role, text)| machine(case, role, text)),
    );
    System::new(machines).unwrap_or_else(|e| panic!("{}: {e}", case.name))
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
    for case in CASES {
        let report = explore(&system(case, case.sup));
        assert_eq!(report.findings, [], "{}", case.name);
        assert!(report.coverage > Coverage::Partial, "{}", case.name);
    }
}

#[test]
fn the_rewritten_systems_do_what_the_table_says() {
    let mut wrong = vec![];
    for case in CASES {
        let system = system(case, case.sub);
        let report = explore(&system);
        // What one configuration shows counts before what all runs from it show.
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
            wrong.push(format!(
                "{}: {outcome:?}, not {:?}\n{run}",
                case.name, case.outcome
            ));
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
    for case in CASES {
        let sub = machine(case, case.role, case.sub);
        let sup = machine(case, case.role, case.sup);
        let least = (1..=4)
            .find(|&visits| paper::subtype(&sub, &sup, visits, 1_000_000) == Answer::Subtype);
        if least != case.visits {
            wrong.push(format!("{}: {least:?}, not {:?}", case.name, case.visits));
        }
        // It is sound.
        assert!(
            least.is_none() || case.relation == Relation::Subtype,
            "{}",
            case.name
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
