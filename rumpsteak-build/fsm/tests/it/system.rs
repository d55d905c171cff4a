//! What goes wrong in composed systems, with the shortest run to it.

use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::system::{Coverage, Exploration, SystemError, explore};
use rumpsteak_fsm::{Action, Fsm, Limit, Limits, Run, System, Verdict, dot, kmc, text};

use crate::common;

/// A system from lines `role: 0 a!x 1, …`.
fn system(lines: &str) -> System {
    System::new(common::machines(lines)).unwrap()
}

#[track_caller]
fn check(lines: &str) -> Exploration {
    let system = system(lines);
    let exploration = explore(&system, &Limits::default());
    for run in exploration.verdict.refusal().into_iter().chain(&exploration.starvation) {
        assert!(run.replay(&system), "{run:?}");
    }
    exploration
}

#[track_caller]
fn bad_run(lines: &str) -> Run {
    check(lines).verdict.refusal().expect("a bad run").clone()
}

const DOUBLE_BUFFERING: &str = "
    s: 0 k?ready 1, 1 k!value(i32) 0
    k: 0 s!ready 1, 1 s?value(i32) 2, 2 t?ready 3, 3 t!value(i32) 0
    t: 0 k!ready 1, 1 k?value(i32) 0";

#[test]
fn a_budget_that_ends_is_an_answer() {
    let system = system(DOUBLE_BUFFERING);
    for configurations in 0..8 {
        let exploration = explore(&system, &Limits::default().configurations(configurations));
        assert_eq!(exploration.verdict, Verdict::Undecided(Limit::Configurations(configurations)));
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
    let system = system(&format!("a: 0 b!x 0\nb: 0 a?x 0\n{c} 50 d!y 51\n{d} 50 c?z 51"));
    let exploration = explore(&system, &Limits::default().configurations(4_000));
    let run = exploration.verdict.refusal().unwrap();
    assert_eq!(run.failure, Failure::UnspecifiedReception { from: "c".into(), to: "d".into() });
    assert_eq!(run.steps.len(), 101);
    assert!(run.replay(&system));
}

#[test]
fn a_run_of_another_system_does_not_replay() {
    let run = bad_run("a: 0 b!x 1\nb: 0 a?y 1");
    assert!(!run.replay(&system("a: 0 b!z 1\nb: 0 a?y 1")));
    assert!(!run.replay(&system("a: 0 b!x 1\nb: 0 a?x 1")));

    let mut lie = run.clone();
    lie.failure = Failure::Deadlock;
    lie.waits.clear();
    assert!(!lie.replay(&system("a: 0 b!x 1\nb: 0 a?y 1")));
    let mut lie = bad_run("a: 0 b!x 1, 1 b!y 2\nb: 0 a?x 1");
    lie.failure = Failure::Deadlock;
    assert!(!lie.replay(&system("a: 0 b!x 1, 1 b!y 2\nb: 0 a?x 1")));
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
        let widest = chart.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{widest}\n{chart}");
        assert!(chart.lines().all(|line| line == line.trim_end()), "{chart}");
    }
}

#[test]
fn machines_that_make_no_system_are_refused() {
    let error = |lines: &str| System::new(common::machines(lines)).unwrap_err();
    assert_eq!(error("a: 0 b!x 1\na: 0 b!x 1"), SystemError::Duplicate("a".into()));
    assert_eq!(
        error("a: 0 b!x 1").to_string(),
        "`a` talks to `b`, which has no machine; add it to the system"
    );
    assert!(matches!(error("a: 0 a!x 1"), SystemError::SelfMessage(..)));
}

#[test]
fn a_system_of_nobody_is_safe() {
    let exploration = explore(&System::new(vec![]).unwrap(), &Limits::default());
    assert_eq!(exploration.verdict, Verdict::Safe(()));
    let machines = dot::parse("digraph a { 0 } digraph b { 0 }").unwrap();
    let exploration = explore(&System::new(machines).unwrap(), &Limits::default());
    assert_eq!(exploration.verdict, Verdict::Safe(()));
}

/// A text for each role `r1`, `r2`, … below `roles`; `#` stands for its number.
fn each(roles: usize, text: &str) -> Vec<String> {
    (1..roles).map(|own| text.replace('#', &own.to_string())).collect()
}

#[test]
fn thousands_of_roles_are_explored() {
    let roles = 3_000;
    let ring = (0..roles).map(|own| {
        let (before, after) = ((own + roles - 1) % roles, (own + 1) % roles);
        match own {
            0 => format!("r0: rec X . r{after}!v; r{before}?v; X"),
            _ => format!("r{own}: rec X . r{before}?v; r{after}!v; X"),
        }
    });
    let ring: Vec<String> = ring.collect();
    let mut star = each(roles, "r#: rec X . r0?a; r0!b; X");
    star.push(format!("r0: rec X . {} X", each(roles, "r#!a; r#?b;").join(" ")));
    for (machines, configurations) in [(ring, 2 * roles), (star, 4 * (roles - 1))] {
        let system = System::new(text::parse(&machines.join("\n")).unwrap()).unwrap();
        let exploration = explore(&system, &Limits::default());
        let coverage = Coverage { exhaustive: true, bound: 1, configurations };
        let verdict = Verdict::Safe(());
        assert_eq!(exploration, Exploration { verdict, starvation: None, coverage });
    }
}

/// A hub that sends to all before it hears from any: too many configurations to see all of them.
#[test]
fn a_thousand_roles_that_answer_at_once_are_multiparty_compatible() {
    let mut machines = each(1_000, "r#: rec X . r0?a; r0!b; X");
    let (sends, receives) = (each(1_000, "r#!a;").join(" "), each(1_000, "r#?b;").join(" "));
    machines.push(format!("r0: rec X . {sends} {receives} X"));
    let system = System::new(text::parse(&machines.join("\n")).unwrap()).unwrap();
    assert_eq!(kmc::check(&system, &Limits::default()).verdict, kmc::Verdict::Safe(1));
}

/// A pool that serves any worker that is ready, and its workers.
fn worker_pool(workers: usize) -> System {
    let names: Vec<String> = (0..workers).map(|worker| format!("w{worker}")).collect();
    let mut pool = Fsm::builder("pool");
    let idle = pool.add_state();
    let mut machines = vec![];
    for name in &names {
        let busy = pool.add_state();
        pool.add_transition(idle, Action::receive(name.as_str(), "ready", &[]), busy);
        pool.add_transition(busy, Action::send(name.as_str(), "run", &[]), idle);
        machines.push(format!("{name}: 0 pool!ready 1, 1 pool?run 0"));
    }
    let mut machines = common::machines(&machines.join("\n"));
    machines.push(pool.build(idle));
    System::new(machines).unwrap()
}

/// Sixteen workers have 43 million configurations.
#[test]
fn one_machine_at_a_time_is_enough_where_they_do_not_meet() {
    for workers in [2, 8, 16, 32] {
        let exploration = explore(&worker_pool(workers), &Limits::default());
        assert_eq!(exploration.verdict, Verdict::Safe(()), "{workers}");
        assert_eq!(exploration.starvation, None);
        assert!(exploration.coverage.exhaustive);
        assert_eq!(exploration.coverage.configurations, 4 * workers, "{workers}");
    }
}

/// While `b` and `c` go on for ever, `a` could take what `b` sent; but `d` may send first, and then
/// `a` chooses otherwise.
#[test]
fn a_machine_that_was_left_out_may_choose_otherwise_once_others_have_moved() {
    let run = bad_run(
        "a: 0 b?x 1, 0 d?x 2, 2 b?x 3, 2 d!x 2, 2 d!y 1, 3 d!x 3, 3 d!y 3, 1 d?x 3
         b: 0 a!x 1, 0 c!x 0, 0 c!y 0, 1 c!x 1, 1 c!y 1
         c: 0 b?x 0, 0 b?y 0
         d: 0 a!x 1, 1 a?x 1, 1 a?y 1",
    );
    assert_eq!(run.failure, Failure::Orphan { from: "b".into(), to: "a".into() });
}
