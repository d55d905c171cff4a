//! What is said of systems that are accepted, refused or not decided.

use rumpsteak_fsm::kmc::{self, Obstacle, Properties, Property, Reduction, Report, Verdict};
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::{Limit, Limits, Run, System, text};

fn system(source: &str) -> System {
    System::new(text::parse(source).unwrap()).unwrap()
}

fn check(source: &str) -> Report {
    kmc::check(&system(source), &Limits::default())
}

#[track_caller]
fn is_safe_at(source: &str, bound: usize) {
    assert_eq!(check(source).verdict, Verdict::Safe(bound));
}

/// The run that refutes a system within this number of configurations.
#[track_caller]
fn refuted(source: &str, configurations: usize) -> Run {
    let Verdict::Unsafe(run) = within(source, configurations).verdict else {
        panic!("a refusal is expected");
    };
    assert!(run.replay(&system(source)));
    *run
}

#[track_caller]
fn refused(source: &str) -> (Vec<String>, Failure) {
    let run = refuted(source, Limits::default().configurations);
    let steps = run.steps.iter().map(|step| format!("{} {}", step.role, step.action));
    (steps.collect(), run.failure)
}

/// The numbers of steps of these roles in a run.
fn moves(run: &Run, roles: &[&str]) -> Vec<usize> {
    let own = |role: &str| run.steps.iter().filter(|step| step.role.as_str() == role).count();
    roles.iter().map(|role| own(role)).collect()
}

fn holds(properties: &Properties) -> [Option<bool>; 7] {
    let Properties { exhaustive, progress, reception, obi, ibi, sibi, cibi, .. } = properties;
    [exhaustive, progress, reception, obi, ibi, sibi, cibi].map(Property::holds)
}

/// Two roles that send n messages before they receive as many, again and again.
fn pair(a: &str, b: &str, n: usize) -> String {
    let [x, y] = [format!("{b}!x; ").repeat(n), format!("{b}?y; ").repeat(n)];
    let [back, take] = [format!("{a}!y; ").repeat(n), format!("{a}?x; ").repeat(n)];
    format!("{a}: rec X . {x}{y}X\n{b}: rec X . {back}{take}X\n")
}

/// So many roles `r0`, `r1`, …, each by its number and the names of those before and after it.
fn ring(roles: usize, role: impl Fn(usize, &str, &str) -> String) -> String {
    let name = |number: usize| format!("r{}", number % roles);
    let line = |own| format!("r{own}: {}\n", role(own, &name(own + roles - 1), &name(own + 1)));
    (0..roles).map(line).collect()
}

#[test]
fn the_least_bound_is_found() {
    for least in [1, 2, 3, 5, 6, 7, 8, 33] {
        let source = pair("a", "b", least);
        is_safe_at(&source, least);
        let limits = Limits::default().queue(least);
        let verdict = kmc::check(&system(&source), &limits).verdict;
        assert_eq!(verdict, Verdict::Safe(least));
        if least > 1 {
            let limits = limits.queue(least - 1);
            let report = kmc::check(&system(&source), &limits);
            assert_eq!(report.verdict, Verdict::Undecided(Limit::Queue(least - 1)));
            assert!(matches!(report.obstacle, Some(Obstacle::Bound(_))), "{report:?}");
        }
    }
}

#[test]
fn parts_that_do_not_talk_are_judged_apart() {
    let source = pair("a", "b", 3) + &pair("c", "d", 9) + &pair("e", "f", 2) + "g: end";
    let report = check(&source);
    assert_eq!(report.verdict, Verdict::Safe(9));
    assert!(report.properties.configurations < 100);
    is_safe_at("", 1);
    is_safe_at("a: end", 1);

    // One bad part makes a bad system.
    let (steps, failure) = refused(&(pair("a", "b", 3) + "c: d?x; end\nd: c?x; end"));
    assert_eq!(steps, [""; 0]);
    assert_eq!(failure, Failure::Starvation("c".into()));
}

#[test]
fn a_budget_that_is_too_small_is_named() {
    let ring = |n| ring(n, |_, before, after| format!("rec X . {{{after}!x; {before}?x; X}}"));
    let limits = Limits::default().configurations(10);
    assert_eq!(
        kmc::check(&system(&ring(12)), &limits).verdict,
        Verdict::Undecided(Limit::Configurations(10))
    );
    // A ring of sends is 2^n interleavings, and one if taken in order.
    let full = kmc::check_at(&system(&ring(16)), 1, Reduction::None, &Limits::default());
    assert_eq!(full.exhaustive, Property::Unknown(Limit::Configurations(100_000)));
    let reduced = check(&ring(30));
    assert_eq!(reduced.verdict, Verdict::Safe(1));
    assert!(reduced.properties.configurations < 500);
}

fn within(source: &str, configurations: usize) -> Report {
    kmc::check(&system(source), &Limits::default().configurations(configurations))
}

fn configurations(source: &str, bound: usize) -> usize {
    let (reduction, limits) = (Reduction::PartialOrder, Limits::default());
    kmc::check_at(&system(source), bound, reduction, &limits).configurations
}

fn at_one(source: &str) -> Properties {
    kmc::check_at(&system(source), 1, Reduction::None, &Limits::default())
}

#[test]
fn the_budget_is_for_all_bounds_together() {
    // Three messages each way: not decided by k = 1 and k = 2, and decided by k = 4.
    let source = &pair("a", "b", 3);
    let at = |bound| configurations(source, bound);
    let needed = at(1) + at(2) + at(4);
    for configurations in at(1)..needed {
        let limit = Limit::Configurations(configurations);
        let Verdict::Undecided(named) = within(source, configurations).verdict else {
            panic!("{configurations} of {needed}");
        };
        assert_eq!(named, limit);
    }
    assert_eq!(within(source, needed).verdict, Verdict::Safe(4));
    assert_eq!(within(source, needed + at(3)).verdict, Verdict::Safe(3));
}

#[test]
fn what_is_wrong_is_found_though_not_all_is_seen() {
    // b cannot take what r0 tells it first; the others have more to do than is looked at.
    let ring = ring(12, |own, before, after| {
        let first = if own == 0 { "b!bad; " } else { "" };
        format!("{first}rec X . {{{after}!x; {before}?x; X}}")
    });
    assert_eq!(refuted(&format!("{ring}b: r0?good; end"), 10).steps.len(), 1);

    // r is told what it cannot take when p has room for a second message, and no earlier.
    let source = "p: q!x; q!x; r!bad; z!go; end
                  q: z?go; p?x; p?x; end
                  r: p?good; end
                  z: p?go; q!go; end";
    let at = |bound| configurations(source, bound);
    let is_refused = |budget: &usize| matches!(within(source, *budget).verdict, Verdict::Unsafe(_));
    let all = at(1) + at(2);
    let enough = (at(1)..all).find(is_refused).unwrap();
    assert!((enough..all + 5).all(|budget| is_refused(&budget)));

    // The same where the reduction does not apply: b takes whichever comes first, for ever.
    let (steps, failure) = refused(
        "a: d!bad; rec X . b!x; X
         c: rec X . b!y; X
         b: rec X . {a?x; X, c?y; X}
         d: a?good; end",
    );
    assert_eq!(steps, ["a d!bad"]);
    assert!(matches!(failure, Failure::UnspecifiedReception { .. }));
}

#[test]
fn a_limit_is_not_blamed_on_the_machines() {
    let forever = "a: rec X . {b!x; X, b?y; X}\nb: rec X . {a!y; X, a?x; X}";
    assert_eq!(within(forever, 1).verdict, Verdict::Undecided(Limit::Configurations(1)));
}

#[test]
fn what_comes_at_the_end_of_a_long_run_is_seen() {
    // Each of 70 roles is told by the one before it.
    let chain: String =
        (1..69).map(|i| format!("r{i}: r{}?v; r{}!v; end\n", i - 1, i + 1)).collect();
    let source = format!("r0: r1!v; end\n{chain}r69: r68?v; end");
    let at = at_one(&source);
    assert_eq!(holds(&at), [Some(true); 7]);
}

#[test]
fn properties_are_those_of_all_parts() {
    let pair = |a: &str, b: &str, hears: &str| {
        format!("{a}: {b}!hi; {b}!x; end\n{b}: {a}?hi; {a}?{hears}; end\n")
    };
    let (good, bad) = (pair("a", "b", "x"), pair("c", "d", "y"));
    let both = at_one(&(good.clone() + &bad));
    assert!(both.mixed.is_none());
    assert_eq!(both.progress.holds(), Some(false));
    assert_eq!(both.configurations, at_one(&good).configurations + at_one(&bad).configurations);
    // Of two parts that fail, the first is shown.
    for (first, second, role) in [("e", "c", "e"), ("c", "e", "c")] {
        let source = pair(first, "f", "y") + &pair(second, "g", "y");
        let Property::Fails(witness) = at_one(&source).progress else {
            panic!("{source}");
        };
        assert_eq!(witness.steps[0].role.as_str(), role);
    }
}

#[test]
fn a_refusal_that_cannot_be_searched_breadth_first_is_cut_to_what_it_needs() {
    // In a ring of 24 all send first, which has far more interleavings than the budget; and two of
    // them wait for each other in the third round.
    let source = ring(24, |own, before, after| {
        let turn = format!("{after}!x; {before}?x; ");
        match own {
            4 => format!("{turn}{turn}r5?never; end"),
            5 => format!("{turn}{turn}r4?never; end"),
            _ => format!("rec X . {turn}X"),
        }
    });
    let run = refuted(&source, 5_000);
    // What the two did in two rounds, and what they needed for it of those before them.
    assert_eq!(moves(&run, &["r2", "r3", "r4", "r5"]), [1, 3, 4, 4]);
    assert_eq!(run.steps.len(), 12);
}

#[test]
fn what_depends_on_a_reception_is_what_it_led_to() {
    let conditions = |roles: [&str; 3]| {
        [[0, 1, 2], [1, 2, 0], [2, 1, 0], [1, 0, 2]].map(|order| {
            let at = at_one(&order.map(|role| roles[role]).join("\n"));
            (at.sibi.holds(), at.cibi.holds())
        })
    };
    // The reception makes room for a, which does not depend on it; nor does y.
    let independent = conditions([
        "a: p!x; p!x; s!go; end",
        "p: {a?x; a?x; s?y; end, s?y; a?x; a?x; end}",
        "s: a?go; p!y; end",
    ]);
    assert_eq!(independent, [(Some(false), Some(false)); 4]);
    // The second message from p depends on it, and so does y; the first does not.
    let dependent = conditions([
        "a: p!x; end",
        "p: s!first; {a?x; s!second; s?y; end, s?y; end}",
        "s: p?first; p?second; p!y; end",
    ]);
    assert_eq!(dependent, [(Some(false), Some(true)); 4]);
}

#[test]
fn what_a_fault_needs_depends_on_the_fault() {
    // As above; after two rounds r4 to r6 do `ends` instead, and the others go round for ever or
    // once more.
    let moves = |ends: [&str; 3], others: &str, rest: &str, roles: &[&str]| {
        let ring = ring(24, |own, before, after| {
            let does = if let 4..=6 = own { ends[own - 4] } else { others };
            does.replace("turn; ", &format!("{after}!x; {before}?x; "))
        });
        let run = refuted(&(ring + rest), 5_000);
        let moves = moves(&run, roles);
        assert_eq!(moves.iter().sum::<usize>(), run.steps.len());
        (moves, run.failure)
    };
    // Three wait for each other.
    let (found, failure) = moves(
        ["turn; turn; r5?never; end", "turn; turn; r6?never; end", "turn; turn; r4?never; end"],
        "rec X . turn; X",
        "",
        &["r2", "r3", "r4", "r5", "r6"],
    );
    assert_eq!(found, [1, 3, 4, 4, 4]);
    assert!(matches!(failure, Failure::Starvation(_)), "{failure:?}");
    // r5 finds what it cannot take. What r4 does then is of no account.
    let (found, failure) = moves(
        ["turn; turn; r5!bad; s!u; end", "rec X . turn; X", "rec X . turn; X"],
        "rec X . turn; X",
        "s: r4?u; end",
        &["r2", "r3", "r4", "r5"],
    );
    assert_eq!(found, [1, 3, 5, 5]);
    assert!(matches!(failure, Failure::UnspecifiedReception { .. }), "{failure:?}");
    // It was t who told it, and t talks to no other role.
    let (found, failure) = moves(
        ["turn; turn; end", "turn; turn; t?good; end", "rec X . turn; X"],
        "rec X . turn; X",
        "t: r5!bad; end",
        &["r2", "r3", "r4", "r5", "t"],
    );
    assert_eq!(found, [0, 1, 3, 4, 1]);
    assert!(
        matches!(&failure, Failure::UnspecifiedReception { from, to } if (from.as_str(), to.as_str()) == ("t", "r5")),
        "{failure:?}"
    );
    // No role waits at the end; s has finished before it is told everything.
    let (found, failure) = moves(
        ["turn; s!a; turn; s!late; turn; end", "turn; turn; turn; end", "turn; turn; turn; end"],
        "turn; turn; turn; end",
        "s: r4?a; end",
        &["r2", "r3", "r4", "s"],
    );
    assert_eq!(found, [1, 3, 6, 1]);
    assert!(matches!(failure, Failure::Orphan { .. }), "{failure:?}");
}

#[test]
fn large_systems_end_in_an_answer() {
    // 400 roles in a ring; 400 independent pairs.
    let ring = ring(400, |own, before, after| match own {
        0 => format!("rec X . {after}!x; {before}?x; X"),
        _ => format!("rec X . {before}?x; {after}!x; X"),
    });
    is_safe_at(&ring, 1);
    let pairs: String =
        (0..400).map(|i| format!("a{i}: rec X . b{i}!x; X\nb{i}: rec X . a{i}?x; X\n")).collect();
    is_safe_at(&pairs, 1);
    // A role with ten thousand choices, and one that takes them all.
    let choices = |action: &str| {
        let branches: Vec<String> = (0..10_000).map(|i| format!("{action}x{i}; X")).collect();
        branches.join(", ")
    };
    is_safe_at(&format!("a: rec X . {{{}}}\nb: rec X . {{{}}}", choices("b!"), choices("a?")), 1);
}

#[test]
fn many_roles_are_not_confused() {
    // A token goes round; r0 would take it from r1 as well, which never has it for r0.
    for roles in [40, 70] {
        let source = ring(roles, |own, before, after| match own {
            0 => format!("rec X . {after}!v; {{{before}?v; X, {after}?w; X}}"),
            _ => format!("rec X . {before}?v; {after}!v; X"),
        });
        let report = check(&source);
        assert_eq!(report.verdict, Verdict::Safe(1));
        assert!(!report.properties.is_directed());
        assert_eq!(holds(&report.properties), [Some(true); 7]);
    }
}

#[test]
fn what_competes_does_not_depend_on_the_order_of_roles_and_branches() {
    let roles = [
        "a: p!x; p?done; s!go; end",
        "s: a?go; p!y; end",
        "p: {s?y; end, a?x; a!done; s?y; end}",
        "p: {a?x; a!done; s?y; end, s?y; end}",
    ];
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [3, 0, 1], [1, 3, 0]] {
        let source = order.map(|role| roles[role]).join("\n");
        let at = at_one(&source);
        // y comes only after x was taken, because of it.
        assert_eq!(at.ibi, Property::Holds);
        assert_eq!((at.sibi.holds(), at.cibi.holds()), (Some(false), Some(true)), "{source}");
        assert!(!at.is_directed());
    }
    assert!(check("a: b!x; end\nb: a?x; end").properties.is_directed());
}

#[test]
fn a_chain_that_is_not_followed_to_its_end_is_not_decided() {
    // k-CIBI decides; it takes a second search.
    let system = system(
        "a: rec X . {p!x; p?done; X, s!go; p?done; X}
         s: rec X . a?go; p!y; X
         p: rec X . {a?x; a!done; X, s?y; a!done; X}",
    );
    let at = |configurations| {
        let limits = Limits::default().configurations(configurations);
        kmc::check_at(&system, 1, Reduction::None, &limits)
    };
    let needed = (0..100).find(|&budget| at(budget).cibi.holds().is_some());
    let needed = needed.expect("a hundred configurations are enough");
    assert_eq!(at(needed).cibi, Property::Holds);
    assert_eq!(at(needed - 1).sibi.holds(), Some(false));
    // Both searches count: 9 configurations, and 32 with who depends on a reception.
    assert_eq!((at(needed).configurations, needed), (9, 9 + 32));
    assert!(at(needed - 1).configurations > at(needed).configurations);
    for budget in 0..needed {
        assert_eq!(at(budget).cibi, Property::Unknown(Limit::Configurations(budget)));
    }
}

#[test]
fn the_bound_is_that_of_the_part_that_needs_most() {
    for (left, right) in [(1, 3), (3, 1), (2, 3)] {
        let source = pair("a", "b", left) + &pair("c", "d", right);
        is_safe_at(&source, 3);
        assert_eq!(check(&source).properties.bound, 3);
    }
}
