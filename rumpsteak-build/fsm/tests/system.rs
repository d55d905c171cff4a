//! What goes wrong in composed systems, with the shortest run to it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "an unwrap in a test is an assertion"
)]

mod common;

use rumpsteak_fsm::{
    Limit, Limits, Run, System, Verdict, dot, kmc,
    run::{Failure, ReplayError},
    system::{Coverage, Exploration, SystemError, explore},
};

/// A system from lines `role: 0 a!x 1, …`.
fn system(lines: &str) -> System {
    System::new(common::machines(lines)).unwrap()
}

/// Explores, and replays what is found.
#[track_caller]
fn check(lines: &str) -> Exploration {
    let system = system(lines);
    let exploration = explore(&system, &Limits::default());
    for run in exploration
        .verdict
        .refusal()
        .into_iter()
        .chain(&exploration.starvation)
    {
        assert_eq!(run.replay(&system), Ok(()), "{run:?}");
    }
    exploration
}

#[track_caller]
fn bad_run(lines: &str) -> Run {
    check(lines).verdict.refusal().expect("a bad run").clone()
}

fn steps(run: &Run) -> Vec<String> {
    run.steps
        .iter()
        .map(|step| format!("{} {}", step.role, step.action))
        .collect()
}

const DOUBLE_BUFFERING: &str = "
    s: 0 k?ready 1, 1 k!value(i32) 0
    k: 0 s!ready 1, 1 s?value(i32) 2, 2 t?ready 3, 3 t!value(i32) 0
    t: 0 k!ready 1, 1 k?value(i32) 0";

#[test]
fn a_safe_system_is_explored_to_its_end() {
    let exploration = check(DOUBLE_BUFFERING);
    assert_eq!(exploration.verdict, Verdict::Safe(()));
    assert_eq!(exploration.starvation, None);
    let Coverage {
        exhaustive, bound, ..
    } = exploration.coverage;
    assert_eq!((exhaustive, bound), (true, 1));
}

#[test]
fn a_bound_suffices_if_others_make_room() {
    // Three messages may be on their way, but each can wait until the one before it is taken.
    let exploration = check(
        "a: 0 b!x 1, 1 b!x 2, 2 b!x 3, 3 b?y 0
         b: 0 a?x 1, 1 a?x 2, 2 a?x 3, 3 a!y 0",
    );
    assert_eq!(exploration.verdict, Verdict::Safe(()));
    assert_eq!(
        exploration.coverage,
        Coverage {
            exhaustive: true,
            bound: 1,
            configurations: 8
        }
    );

    // Here b takes nothing before it was told how many there are.
    let exploration = check(
        "a: 0 b!x 1, 1 b!x 2, 2 c!two 3
         b: 0 c?two 1, 1 a?x 2, 2 a?x 3
         c: 0 a?two 1, 1 b!two 2",
    );
    assert_eq!(exploration.verdict, Verdict::Safe(()));
    assert_eq!(
        exploration.coverage,
        Coverage {
            exhaustive: true,
            bound: 2,
            configurations: 9
        }
    );
}

#[test]
fn waiting_for_each_other_is_a_deadlock() {
    // The paper's Example 2: p waits first, although q does.
    let run = bad_run(
        "p: 0 q?l2 1, 1 q!l1 2
         q: 0 p?l1 1, 1 p!l2 2",
    );
    assert_eq!(run.failure, Failure::Deadlock);
    assert_eq!(steps(&run), [""; 0]);
    let waits: Vec<String> = run.waits.iter().map(|wait| wait.role.to_string()).collect();
    assert_eq!(waits, ["p", "q"]);
    assert_eq!(
        run.chart(),
        "     p                       q\n     │                       │\n  p waits for l2 from q\n  q waits for l1 from p\n  nobody can move\n"
    );
}

#[test]
fn the_deadlock_of_a_wrong_kernel_is_drawn() {
    let run = bad_run(
        "s: 0 k?ready 1, 1 k!value(i32) 0
         k: 0 t?ready 1, 1 s?value(i32) 2, 2 s!ready 3, 3 t!value(i32) 0
         t: 0 k!ready 1, 1 k?value(i32) 0",
    );
    assert_eq!(run.failure, Failure::Deadlock);
    assert_eq!(steps(&run), ["t k!ready", "k t?ready"]);
    let chart = "     s                       k                       t
  1  │                       │◁────────ready─────────┤
  2  │                       ● ready                 │
     │                       │                       │
  s waits for ready from k
  k waits for value(i32) from s
  t waits for value(i32) from k
  nobody can move
";
    assert_eq!(run.chart(), chart);
}

#[test]
fn one_role_left_behind_is_a_deadlock() {
    let run = bad_run("a: 0 b!x 1\nb: 0 a?x 1, 1 a?y 2");
    assert_eq!(run.failure, Failure::Deadlock);
    assert_eq!(steps(&run), ["a b!x", "b a?x"]);
}

#[test]
fn a_head_that_its_receiver_cannot_take_is_an_unspecified_reception() {
    let run = bad_run("a: 0 b!x 1\nb: 0 a?y 1");
    assert_eq!(
        run.failure,
        Failure::UnspecifiedReception {
            from: "a".into(),
            to: "b".into()
        }
    );
    assert_eq!(steps(&run), ["a b!x"]);
    assert!(run.chart().ends_with(
        "  b waits for y from a\n  in the queue from a to b: x\n  b cannot receive the next message from a\n"
    ));
}

#[test]
fn another_payload_is_an_unspecified_reception() {
    let run = bad_run("a: 0 b!x(i32) 1\nb: 0 a?x(u32) 1");
    assert_eq!(
        run.failure,
        Failure::UnspecifiedReception {
            from: "a".into(),
            to: "b".into()
        }
    );
}

#[test]
fn a_message_to_a_finished_role_is_an_orphan() {
    let run = bad_run("a: 0 b!x 1, 1 b!y 2\nb: 0 a?x 1");
    assert_eq!(
        run.failure,
        Failure::Orphan {
            from: "a".into(),
            to: "b".into()
        }
    );
    // The second message is lost as soon as it is sent and b is past its last receive.
    assert_eq!(steps(&run), ["a b!x", "b a?x", "a b!y"]);
}

#[test]
fn a_message_that_is_never_taken_is_an_orphan_although_its_receiver_goes_on() {
    // c listens to a only once b says `stop`, which b never does.
    let run = bad_run(
        "a: 0 c!x 1
         b: 0 c!go 1, 1 c?ok 0
         c: 0 b?go 1, 1 b!ok 0, 0 b?stop 2, 2 a?x 3",
    );
    assert_eq!(
        run.failure,
        Failure::Orphan {
            from: "a".into(),
            to: "c".into()
        }
    );
    assert_eq!(steps(&run), ["a c!x"]);
}

#[test]
fn a_role_that_nobody_serves_starves() {
    let exploration = check(
        "a: 0 b!go 1, 1 b?ok 0
         b: 0 a?go 1, 1 a!ok 0, 0 a?stop 2, 2 c!bye 3
         c: 0 b?bye 1",
    );
    assert_eq!(exploration.verdict, Verdict::Safe(()));
    let run = exploration.starvation.unwrap();
    assert_eq!(run.failure, Failure::Starvation { role: "c".into() });
    assert_eq!(steps(&run), [""; 0]);
    assert!(
        run.chart()
            .ends_with("  c waits for bye from b\n  c waits for ever\n")
    );
}

#[test]
fn queues_that_grow_for_ever_can_be_safe() {
    let exploration = check("a: 0 b!x 0\nb: 0 a?x 0");
    assert_eq!(exploration.verdict, Verdict::Safe(()));
    assert_eq!(
        exploration.coverage,
        Coverage {
            exhaustive: true,
            bound: 1,
            configurations: 2
        }
    );
}

#[test]
fn a_queue_that_no_bound_suffices_for_is_explored_up_to_one() {
    // b takes nothing before a has stopped, which may be after any number of messages.
    let system = system(
        "a: 0 b!x 0, 0 b!stop 1, 1 c!go 2
         b: 0 c?go 1, 1 a?x 1, 1 a?stop 2
         c: 0 a?go 1, 1 b!go 2",
    );
    let limits = Limits::default().queue(6);
    let exploration = explore(&system, &limits);
    assert_eq!(exploration.verdict, Verdict::Undecided(Limit::Queue(6)));
    let Coverage {
        exhaustive, bound, ..
    } = exploration.coverage;
    assert_eq!((exhaustive, bound), (false, 6));
    assert_eq!(
        Limit::Queue(6).to_string(),
        "a queue would hold more than 6 messages (limit `queue`)"
    );
}

#[test]
fn the_run_is_the_shortest_although_it_needs_a_longer_queue() {
    // With queues of one message, b must make room before a can go on.
    let run = bad_run(
        "a: 0 b!x 1, 1 b!x 2, 2 c!y 3
         b: 0 a?x 1, 1 a?x 2
         c: 0 a?z 1",
    );
    assert_eq!(
        run.failure,
        Failure::UnspecifiedReception {
            from: "a".into(),
            to: "c".into()
        }
    );
    assert_eq!(steps(&run), ["a b!x", "a b!x", "a c!y"]);
}

#[test]
fn a_budget_that_ends_is_an_answer() {
    let system = system(DOUBLE_BUFFERING);
    for configurations in 0..8 {
        let exploration = explore(&system, &Limits::default().configurations(configurations));
        assert_eq!(
            exploration.verdict,
            Verdict::Undecided(Limit::Configurations(configurations))
        );
        assert!(!exploration.coverage.exhaustive);
    }
}

#[test]
fn a_failure_beyond_growing_queues_is_found_by_bounding_them() {
    // The queue from a to b grows without end, and the failure needs a hundred steps.
    let (mut c, mut d) = (String::from("c: "), String::from("d: "));
    for step in 0..50 {
        c.push_str(&format!("{step} d!x {}, ", step + 1));
        d.push_str(&format!("{step} c?x {}, ", step + 1));
    }
    let system = system(&format!(
        "a: 0 b!x 0\nb: 0 a?x 0\n{c} 50 d!y 51\n{d} 50 c?z 51"
    ));
    let exploration = explore(&system, &Limits::default().configurations(4_000));
    let run = exploration.verdict.refusal().unwrap();
    assert_eq!(
        run.failure,
        Failure::UnspecifiedReception {
            from: "c".into(),
            to: "d".into()
        }
    );
    assert_eq!(run.steps.len(), 101);
    assert_eq!(run.replay(&system), Ok(()));
}

#[test]
fn mixed_machines_are_explored_too() {
    let exploration = check(
        "a: 0 b!x 1, 0 b?y 2, 1 b?y 3, 2 b!x 3
         b: 0 a!y 1, 0 a?x 2, 1 a?x 3, 2 a!y 3",
    );
    assert_eq!(exploration.verdict, Verdict::Safe(()));
    assert_eq!(exploration.coverage.bound, 1);
}

#[test]
fn a_role_that_listens_to_two_is_stuck_only_if_both_sent_something_else() {
    let listener = "c: 0 a?x 1, 0 b?x 2, 1 b?y 3, 2 a?y 3";
    let safe = check(&format!("a: 0 c!y 1\nb: 0 c!x 1\n{listener}"));
    assert_eq!(safe.verdict, Verdict::Safe(()));
    let run = bad_run(&format!("a: 0 c!y 1\nb: 0 c!y 1\n{listener}"));
    assert_eq!(
        run.failure,
        Failure::UnspecifiedReception {
            from: "a".into(),
            to: "c".into()
        }
    );
    assert_eq!(run.steps.len(), 2);
}

#[test]
fn a_run_of_another_system_does_not_replay() {
    let run = bad_run("a: 0 b!x 1\nb: 0 a?y 1");
    assert_eq!(
        run.replay(&system("a: 0 b!z 1\nb: 0 a?y 1")),
        Err(ReplayError::Step { index: 0 })
    );
    assert_eq!(
        run.replay(&system("a: 0 b!x 1\nb: 0 a?x 1")),
        Err(ReplayError::End)
    );

    let mut lie = run.clone();
    lie.failure = Failure::Deadlock;
    lie.waits.clear();
    assert_eq!(
        lie.replay(&system("a: 0 b!x 1\nb: 0 a?y 1")),
        Err(ReplayError::End)
    );
    let mut lie = bad_run("a: 0 b!x 1, 1 b!y 2\nb: 0 a?x 1");
    lie.failure = Failure::Deadlock;
    let error = lie
        .replay(&system("a: 0 b!x 1, 1 b!y 2\nb: 0 a?x 1"))
        .unwrap_err();
    assert_eq!(error.to_string(), "the steps lead to no such failure");
}

#[test]
fn charts_stay_within_80_columns() {
    // Nine roles in a ring, each with a long name and a long message; all wait.
    for roles in 1..=12 {
        let mut lines = String::from("start: 0 role_with_a_long_name_0!go 1\n");
        for role in 0..roles {
            let next = (role + 1) % roles;
            let message = format!(
                "a_message_with_a_long_label_{role}(std::collections::BTreeMap<String, String>)"
            );
            lines.push_str(&match role {
                0 => format!(
                    "role_with_a_long_name_0: 0 start?go 1, 1 role_with_a_long_name_{}!{message} 2, 2 start?more 3\n",
                    if next == 0 { "x".into() } else { next.to_string() }
                ),
                _ => format!("role_with_a_long_name_{role}: 0 role_with_a_long_name_{}?other 1\n", role - 1),
            });
        }
        if roles == 1 {
            lines.push_str("role_with_a_long_name_x: 0 start?other 1\n");
        }
        let chart = bad_run(&lines).chart();
        let widest = chart
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap();
        assert!(widest <= 80, "{widest}\n{chart}");
        assert!(chart.lines().all(|line| line == line.trim_end()), "{chart}");
    }
}

#[test]
fn arrows_cross_lifelines() {
    let run = bad_run(
        "a: 0 c!hello 1
         b: 0 c?x 1
         c: 0 a?hello 1, 1 a!back 2",
    );
    let chart = "     a                       b                       c
  1  ├─────────hello─────────┼──────────────────────▷│
  2  │                       │                       ● hello
  3  │◁──────────────────────┼─────────back──────────┤
     │                       │                       │
  b waits for x from c
  in the queue from c to a: back
  a never receives the message from c
";
    assert_eq!(run.chart(), chart);
}

#[test]
fn machines_that_make_no_system_are_refused() {
    let error = |lines: &str| System::new(common::machines(lines)).unwrap_err();
    assert_eq!(
        error("a: 0 b!x 1\na: 0 b!x 1"),
        SystemError::Duplicate { role: "a".into() }
    );
    assert_eq!(
        error("a: 0 b!x 1").to_string(),
        "`a` talks to `b`, which has no machine; add it to the system"
    );
    assert!(matches!(
        error("a: 0 a!x 1"),
        SystemError::SelfMessage { .. }
    ));
}

#[test]
fn a_system_of_nobody_is_safe() {
    let exploration = explore(&System::new(vec![]).unwrap(), &Limits::default());
    assert_eq!(exploration.verdict, Verdict::Safe(()));
    let machines = dot::parse("digraph a { 0 } digraph b { 0 }").unwrap();
    let exploration = explore(&System::new(machines).unwrap(), &Limits::default());
    assert_eq!(exploration.verdict, Verdict::Safe(()));
}

/// *It starves a role if from some reachable configuration on, the role waits for a message that can never come*: who, and after what.
/// k-MC says the same.
#[test]
fn who_waits_for_what_can_never_come_starves() {
    // The system; who starves, after which shortest run.
    type Case = (
        &'static str,
        Option<(&'static str, &'static [&'static str])>,
    );
    let cases: &[Case] = &[
        // a may go on for ever, but need not: c's message can come.
        (
            "a: 0 b!go 0, 0 b!stop 1, 1 c!bye 2
             b: 0 a?go 0, 0 a?stop 1
             c: 0 a?bye 1",
            None,
        ),
        // It can never come, from the start.
        (
            "a: 0 b!go 0
             b: 0 a?go 0
             c: 0 a?bye 1",
            Some(("c", &[])),
        ),
        // It can never come once a has chosen to go on: c was served before, and b is still.
        (
            "a: 0 b!go 1, 0 b!stop 2, 1 b!go 1, 2 c!bye 3
             b: 0 a?go 1, 0 a?stop 2, 1 a?go 1
             c: 0 a?bye 1",
            Some(("c", &["a b!go"])),
        ),
        (
            "a: 0 c!hi 1, 1 b!go 2, 2 b!go 2
             b: 0 a?go 0
             c: 0 a?hi 1, 1 a?hi 1",
            Some(("c", &["a c!hi", "c a?hi"])),
        ),
        // A role that is finished waits for nothing; nor does one that can send.
        (
            "a: 0 b!go 0
             b: 0 a?go 0
             c: 0 d!x 0
             d: 0 c?x 0
             e:",
            None,
        ),
        // Two wait for each other while others go on: the first of them is named.
        (
            "a: 0 b!go 0
             b: 0 a?go 0
             c: 0 d?x 1
             d: 0 c?x 1",
            Some(("c", &[])),
        ),
    ];
    for &(lines, expected) in cases {
        let exploration = check(lines);
        assert_eq!(exploration.verdict, Verdict::Safe(()), "{lines}");
        let starved = exploration.starvation;
        assert_eq!(starved.is_some(), expected.is_some(), "{lines}");
        let report = kmc::check(&system(lines), &Limits::default());
        let Some((role, path)) = expected else {
            assert!(
                matches!(report.verdict, kmc::Verdict::Safe { .. }),
                "{lines}"
            );
            continue;
        };
        let failure = Failure::Starvation { role: role.into() };
        let run = starved.expect("a run");
        assert_eq!(
            (steps(&run), &run.failure),
            (
                path.iter().map(|step| (*step).to_owned()).collect(),
                &failure
            )
        );
        let kmc::Verdict::Unsafe(run) = report.verdict else {
            panic!("{lines}: {:?}", report.verdict);
        };
        assert_eq!(
            (run.failure, run.steps.len()),
            (failure, path.len()),
            "{lines}"
        );
    }
}
