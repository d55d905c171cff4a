//! Systems whose machines choose among peers, and between sending and receiving: the reduced
//! exploration against exploration step by step.
//!
//! Some roles talk in pairs, and each takes part in several such talks at once: its machine is the
//! interleaving of its sides. That is safe, until something is changed.

use std::collections::BTreeMap;

use fastrand::Rng;
use rumpsteak_fsm::system::{self, explore};
use rumpsteak_fsm::verify::drain;
use rumpsteak_fsm::{Direction, Fsm, StateId, Verdict};
use rumpsteak_oracle::{Coverage, FaultKind, Limits, System, action, sample};

use crate::fuzz;

const ROLES: [&str; 4] = ["a", "b", "c", "d"];

/// One side of a talk: for each state, true if it sends, and the label and target of each move.
type Talk = Vec<(bool, Vec<(usize, usize)>)>;

fn talk(rng: &mut Rng) -> Talk {
    let states = rng.usize(1..4);
    let state = |rng: &mut Rng, _| {
        let moves = (0..rng.usize(..3)).map(|label| (label, rng.usize(..states)));
        let moves: Vec<_> = moves.collect();
        (rng.bool(), moves)
    };
    (0..states).map(|number| state(rng, number)).collect()
}

/// The interleaving of a role's sides: with whom, which talk, and whether it is the first of the
/// two.
fn machine(role: &str, sides: &[(&str, &Talk, bool)]) -> Fsm {
    let mut builder = Fsm::builder(role);
    let mut known: BTreeMap<Vec<usize>, StateId> = BTreeMap::new();
    let start = vec![0; sides.len()];
    let initial = builder.add_state();
    known.insert(start.clone(), initial);
    let mut work = vec![start];
    while let Some(at) = work.pop() {
        for (side, &(peer, talk, is_first)) in sides.iter().enumerate() {
            let (first_sends, moves) = &talk[at[side]];
            for &(label, target) in moves {
                let mut next = at.clone();
                next[side] = target;
                let action = action(*first_sends == is_first, peer, &format!("m{label}"), &[]);
                let to = *known.entry(next.clone()).or_insert_with(|| {
                    work.push(next);
                    builder.add_state()
                });
                builder.add_transition(known[&at], action, to);
            }
        }
    }
    builder.build(initial)
}

/// A system, with true if nothing was changed in it.
fn random(rng: &mut Rng) -> (Vec<Fsm>, bool) {
    let count = rng.usize(2..=ROLES.len());
    let mut talks = vec![];
    for one in 0..count {
        for other in one + 1..count {
            if rng.usize(..3) > 0 {
                talks.push((one, other, talk(rng)));
            }
        }
    }
    let machines = (0..count).map(|role| {
        let side = |(one, other, talk): &'_ (usize, usize, Talk)| {
            let sides = [(*one, *other, true), (*other, *one, false)];
            sides
                .into_iter()
                .find(|side| side.0 == role)
                .map(|side| (ROLES[side.1], side.2, talk.clone()))
        };
        let sides: Vec<_> = talks.iter().filter_map(side).collect();
        let sides: Vec<_> = sides.iter().map(|(peer, first, talk)| (*peer, talk, *first)).collect();
        machine(ROLES[role], &sides)
    });
    let mut machines: Vec<Fsm> = machines.collect();
    let is_whole = rng.bool();
    if !is_whole {
        let changed = rng.usize(..count);
        machines[changed] = change(&machines[changed], rng);
    }
    (machines, is_whole)
}

/// Leaves out a transition, or leads it elsewhere, or gives it another label.
fn change(fsm: &Fsm, rng: &mut Rng) -> Fsm {
    let mut builder = Fsm::builder(fsm.role().clone());
    let states: Vec<StateId> = fsm.states().map(|_| builder.add_state()).collect();
    let changed = rng.usize(..fsm.transition_count().max(1));
    for (number, transition) in fsm.transitions().enumerate() {
        let (mut action, mut target) = (transition.action.clone(), transition.target);
        if number == changed {
            match rng.usize(..3) {
                0 => continue,
                1 => target = states[rng.usize(..states.len())],
                _ => action.message.label = "m1".into(),
            }
        }
        builder.add_transition(transition.source, action, target);
    }
    builder.build(fsm.initial())
}

#[test]
fn the_reduced_exploration_agrees_with_the_whole_one() {
    let limits = rumpsteak_fsm::Limits::default().queue(3).configurations(2_000);
    let naive = Limits { queue: 3, configurations: 2_000, steps: usize::MAX };
    let (mut safe, mut wrong, mut mixed, mut undecided) = (0, 0, 0, 0);
    let (mut few, mut all, mut drained) = (0, 0, [0, 0]);
    let (seeds, tried) = (sample(1_000), sample(1_000).count());
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let (machines, is_whole) = random(&mut rng);
        mixed += usize::from(machines.iter().any(|machine| {
            machine.states().any(|state| {
                let sends = |direction| {
                    machine.transitions_from(state).any(|found| found.action.direction == direction)
                };
                sends(Direction::Send) && sends(Direction::Receive)
            })
        }));
        let all_machines = machines.clone();
        let report = System::new(machines.clone()).expect("a system").explore(&naive);
        let system = system::System::new(machines).expect("a system");
        let found = explore(&system, &limits);
        let is_drained = drain(&system, &limits).is_some();
        let context = || {
            format!(
                "seed {seed}: {found:?}\n{:?} {:?}\n{all_machines:#?}",
                report.findings, report.coverage
            )
        };
        // Longer queues than those that are bounded above.
        let longer = || fuzz::explore(&System::new(all_machines.clone()).expect("a system"), 2_000);
        assert!(!is_drained || report.findings.is_empty(), "{}", context());
        assert!(!is_drained || longer().findings.is_empty(), "{}", context());
        let is_endless = report.coverage == Coverage::Partial;
        drained[usize::from(is_endless)] += usize::from(is_drained);
        match &found.verdict {
            Verdict::Safe(()) => {
                let starves = found.starvation.is_some();
                let kinds: Vec<FaultKind> =
                    report.findings.iter().map(|finding| finding.fault.kind()).collect();
                let expected: &[FaultKind] = if starves { &[FaultKind::Starvation] } else { &[] };
                // If queues grow for ever, step-by-step exploration does not see starvation.
                let sees = report.coverage == Coverage::Complete || !kinds.is_empty();
                let expected = if sees { expected } else { &[] };
                assert_eq!(kinds, expected, "{}", context());
                (few, all) = (few + found.coverage.configurations, all + report.configurations);
                safe += 1;
            }
            Verdict::Unsafe(run) => {
                assert!(!is_whole || report.coverage == Coverage::Partial, "{}", context());
                // The first of its kind; what one configuration shows counts before what all runs
                // from it show. Where queues grow for ever, the whole exploration may not see the
                // latter.
                let kinds = report.findings.iter();
                let kinds = kinds.filter(|found| found.fault.kind() != FaultKind::Starvation);
                let lengths: Vec<usize> = kinds.map(|found| found.run.len()).collect();
                let length = run.steps.len();
                let is_right = match report.coverage {
                    Coverage::Complete => lengths.contains(&length),
                    _ => lengths.iter().min() <= Some(&length),
                };
                assert!(is_right, "{lengths:?} {}", context());
                wrong += 1;
            }
            Verdict::Undecided(_) => {
                assert_ne!(report.coverage, Coverage::Complete, "{}", context());
                undecided += 1;
            }
        }
    }
    println!(
        "{safe} safe, {wrong} wrong, {undecided} undecided, {mixed} mixed; of {all} configurations {few} were met; {} finite and {} endless ones are drained",
        drained[0], drained[1],
    );
    assert!(few < all && drained[1] * 20 > tried, "{drained:?}");
    let are_enough = safe * 5 > tried * 2 && wrong * 11 > tried && mixed * 5 > tried;
    assert!(are_enough, "{safe} {wrong} {mixed}");
}
