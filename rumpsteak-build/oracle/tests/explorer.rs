//! The explorer on systems small enough to count by hand.

#![allow(clippy::expect_used, reason = "a test states what holds")]

use rumpsteak_oracle::{
    Coverage, Fault, FaultKind, Limits, Report, Step, System, SystemError, local,
};

fn system(machines: &[(&str, &str)]) -> System {
    let machines = machines.iter().map(|(role, text)| local(role, text).expect("a local type"));
    System::new(machines.collect()).expect("a system")
}

fn explore(machines: &[(&str, &str)], queue: usize) -> Report {
    system(machines).explore(&Limits { queue, configurations: 1_000, steps: usize::MAX })
}

fn faults(report: &Report) -> Vec<(Fault, usize)> {
    report.findings.iter().map(|f| (f.fault, f.run.len())).collect()
}

#[test]
fn one_message_has_three_configurations() {
    let report = explore(&[("a", "b!x.end"), ("b", "a?x.end")], 1);
    assert_eq!(report.configurations, 3);
    assert_eq!(report.coverage, Coverage::Complete);
    assert_eq!(report.findings, []);
}

#[test]
fn queues_are_first_in_first_out_and_apart() {
    let report = explore(&[("a", "b!x.c!y.b!z.end"), ("b", "a?x.a?z.end"), ("c", "a?y.end")], 2);
    // a has done 0..=3 actions; b at most as many as it was sent, c likewise:
    // 1·1 + 2·1 + 2·2 + 3·2
    assert_eq!(report.configurations, 13);
    assert_eq!(report.findings, []);
}

#[test]
fn a_full_queue_holds_back() {
    let machines = [("a", "rec X . b!x . X"), ("b", "rec X . a?x . X")];
    let report = explore(&machines, 3);
    assert_eq!(report.configurations, 4);
    assert_eq!(report.coverage, Coverage::Exhaustive);
    assert_eq!(report.findings, []);
}

#[test]
fn two_that_must_send_twice_first_need_room_for_two() {
    let machines =
        [("a", "rec X . b!x . b!x . b?y . b?y . X"), ("b", "rec X . a!y . a!y . a?x . a?x . X")];
    // With room for one both are held back by the other: no deadlock, but nothing is known either.
    let report = explore(&machines, 1);
    assert_eq!(report.coverage, Coverage::Partial);
    assert_eq!(report.findings, []);
    let report = explore(&machines, 4);
    assert_eq!(report.coverage, Coverage::Complete);
    assert_eq!(report.findings, []);
}

#[test]
fn a_deadlock_after_two_steps() {
    let report = explore(&[("a", "b!x . b?y.end"), ("b", "a?x . a?z.end")], 1);
    assert_eq!(faults(&report), [(Fault::Starvation { machine: 0 }, 1), (Fault::Deadlock, 2),]);
}

#[test]
fn an_unspecified_reception_while_others_go_on() {
    let report =
        explore(&[("a", "b!x . rec X . c!t . X"), ("b", "a?y.end"), ("c", "rec X . a?t . X")], 2);
    assert_eq!(report.coverage, Coverage::Exhaustive);
    assert_eq!(
        faults(&report),
        [
            (Fault::Starvation { machine: 1 }, 0),
            (Fault::UnspecifiedReception { receiver: 1 }, 1),
            (Fault::Abandoned { sender: 0, receiver: 1 }, 1),
        ]
    );
}

#[test]
fn orphans_at_once_and_for_ever() {
    let orphan = Fault::Orphan { sender: 0, receiver: 1 };
    let report = explore(&[("a", "b!x.end"), ("b", "end")], 1);
    assert_eq!(faults(&report), [(orphan, 1)]);

    let abandoned = Fault::Abandoned { sender: 0, receiver: 1 };
    let machines = [("a", "b!x.end"), ("b", "rec X . c?t . X"), ("c", "rec X . b!t . X")];
    let report = explore(&machines, 1);
    assert_eq!(faults(&report), [(abandoned, 1)]);
    // Known even if the exploration is cut off: b never receives from a.
    let cut = Limits { queue: 1, configurations: 2, steps: usize::MAX };
    let report = system(&machines).explore(&cut);
    assert_eq!(report.coverage, Coverage::Partial);
    assert_eq!(faults(&report), [(abandoned, 1)]);
}

#[test]
fn starvation_is_not_reported_of_what_may_still_come() {
    let machines = [
        ("a", "rec X . b!{go.X, stop.end}"),
        ("b", "rec X . a?{go.X, stop.c!bye.end}"),
        ("c", "b?bye.end"),
    ];
    assert_eq!(explore(&machines, 2).findings, []);

    let machines = [("a", "rec X . b!go . X"), machines[1], machines[2]];
    let report = explore(&machines, 2);
    assert_eq!(faults(&report), [(Fault::Starvation { machine: 2 }, 0)]);

    // The queue outgrows the bound before anything is received, so nothing is known.
    let machines = [("a", "b!x . b!x . b?y.end"), ("b", "a!y . a?x . a?x.end"), ("c", "end")];
    let report = explore(&machines, 1);
    assert_eq!(report.coverage, Coverage::Exhaustive);
    assert_eq!(report.findings, []);
}

#[test]
fn findings_carry_shortest_runs_that_replay() {
    let machines = [
        ("a", "rec X . b!{again.X, last.c!x.end}"),
        ("b", "rec X . a?{again.X, last.c!y.end}"),
        ("c", "b?y . a?z.end"),
    ];
    let system = system(&machines);
    let report = system.explore(&Limits { queue: 2, configurations: 1_000, steps: usize::MAX });
    let finding = report.finding(FaultKind::UnspecifiedReception).expect("c does not take x");
    // a!last, a!x, b?last, b!y, c?y
    assert_eq!(finding.run.len(), 5);
    let end = system.replay(&finding.run).expect("it replays");
    assert!(system.faults(&end).contains(&finding.fault));

    let text = system.describe(&finding.run);
    assert!(text.contains("c in state 1: a?z"), "{text}");
    assert!(text.contains("queued from a to c: x"), "{text}");

    let twice = [finding.run[0], finding.run[0], finding.run[0]];
    assert_eq!(system.replay(&twice).map(|_| ()), Err(1));
    let beyond = Step { machine: 9, ..finding.run[0] };
    assert_eq!(system.replay(&[beyond]).map(|_| ()), Err(0));
}

#[test]
fn the_length_of_runs_can_be_limited() {
    let machines = system(&[("a", "b!x . b!x . b!x.end"), ("b", "a?x . a?x . a?y.end")]);
    let limits = |steps| Limits { queue: usize::MAX, configurations: usize::MAX, steps };
    let report = machines.explore(&limits(4));
    assert_eq!(report.coverage, Coverage::Partial);
    assert_eq!(report.immediate(), None);
    let report = machines.explore(&limits(5));
    assert_eq!(
        report.immediate().map(|f| f.fault),
        Some(Fault::UnspecifiedReception { receiver: 1 })
    );
}

#[test]
fn what_is_no_system() {
    let a = local("a", "b!x.end").expect("a local type");
    assert_eq!(
        System::new(vec![a.clone()]).map(|_| ()),
        Err(SystemError::Missing("a".into(), "b".into()))
    );
    assert_eq!(
        System::new(vec![a.clone(), a]).map(|_| ()),
        Err(SystemError::Missing("a".into(), "b".into()))
    );
    let end = local("a", "end").expect("a local type");
    assert_eq!(
        System::new(vec![end.clone(), end]).map(|_| ()),
        Err(SystemError::Twice("a".into()))
    );
}

#[test]
fn neglect_is_what_only_an_unfair_choice_would_prevent() {
    let limits = Limits { queue: 2, configurations: 1_000, steps: usize::MAX };
    let neglect = |machines: &[(&str, &str)]| {
        let neglect = system(machines).neglect(&limits)?;
        Some((neglect.machine, neglect.run.len(), neglect.steps.len()))
    };
    // c is served only when a stops, which it need not.
    let waiting = [
        ("a", "rec X . b!{go.X, stop.end}"),
        ("b", "rec X . a?{go.X, stop.c!bye.end}"),
        ("c", "b?bye.end"),
    ];
    // The queue from a to b holds up to two: three configurations, two sends and two receives.
    assert_eq!(neglect(&waiting), Some((2, 0, 4)));
    // So is the message of c, which is done itself.
    let unread = [
        ("a", "rec X . b!{go.X, stop.end}"),
        ("b", "rec X . a?{go.X, stop.c?bye.end}"),
        ("c", "b!bye.end"),
    ];
    assert_eq!(neglect(&unread), Some((1, 1, 4)));
    // All roles are told in each lap.
    let told = [
        ("a", "rec X . b!{go.c!go.X, stop.c!stop.end}"),
        ("b", "rec X . a?{go.X, stop.end}"),
        ("c", "rec X . a?{go.X, stop.end}"),
    ];
    assert_eq!(neglect(&told), None);
    // b could always take the message, so it would be unfair not to let it.
    let able = [("a", "b!x.rec X . c!t.X"), ("b", "a?x.end"), ("c", "rec X . a?t.X")];
    assert_eq!(neglect(&able), None);
}
