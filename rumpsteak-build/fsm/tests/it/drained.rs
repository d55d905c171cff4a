//! Certificates of systems whose queues need no bound, and changed ones, which prove nothing.

use std::collections::BTreeSet;

use rumpsteak_fsm::certificate::drained::{Drained, Plan, Progress, check};
use rumpsteak_fsm::certificate::{Fault, Invalid};
use rumpsteak_fsm::verify::{Grounds, decide, drain};
use rumpsteak_fsm::{Limits, System, TransitionId, Verdict};

use crate::common;

/// Streams both ways, which either side closes.
const DUPLEX: [&str; 2] = [
    "a: 0 b!x 0, 0 b?y 0, 0 b!close 1, 0 b?close 2, 1 b?y 1, 1 b?close 3, 2 b!close 3",
    "b: 0 a!y 0, 0 a?x 0, 0 a!close 1, 0 a?close 2, 1 a?x 1, 1 a?close 3, 2 a!close 3",
];

/// Streams both ways, each with an end, in rounds that `a` begins and may break off.
const ROUNDS: [&str; 2] = [
    "a: 0 b!go 1, 1 b!x 1, 1 b!half 2, 1 b?y 1, 1 b?end 3, 1 b!stop 4, 2 b?y 2, 2 b?end 0, \
     2 b!stop 4, 3 b!x 3, 3 b!half 0, 3 b!stop 0, 4 b?y 4, 4 b?end 0, 4 b?stop 0",
    "b: 0 a?go 1, 1 a?x 1, 1 a?half 2, 1 a!y 1, 1 a!end 3, 1 a?stop 4, 2 a!y 2, 2 a!end 5, \
     2 a?stop 4, 3 a?x 3, 3 a?half 5, 3 a?stop 0, 4 a!stop 0, 5 a?go 1, 5 a?stop 0",
];

fn system(machines: &[&str]) -> System {
    System::new(machines.iter().map(|text| common::machine(text)).collect()).unwrap()
}

fn of(system: &System) -> Option<Drained> {
    let found = drain(system, &Limits::default())?;
    assert_eq!(check(&found, system.machines()), Ok(()));
    Some(found)
}

#[test]
fn streams_both_ways_are_safe() {
    let duplex = system(&DUPLEX);
    let Some(Drained { longest: 1, situations }) = of(&duplex) else { panic!("one is enough") };
    let found = decide(&duplex, &Limits::default());
    let grounds = Grounds::Drained(situations.len());
    assert_eq!(found.verdict, Verdict::Safe(grounds));
    // A stream through a third role; and rounds that are told apart by the lengths of queues.
    for safe in [
        &["a: 0 w!x 0, 0 b?n 0", "w: 0 a?x 1, 1 b!y 0", "b: 0 w?y 0, 0 a!n 0"][..],
        &["a: 0 b!x 1, 1 b!y 0, 0 b?n 0, 1 b?n 1", "b: 0 a?x 1, 1 a?y 0, 0 a!n 0, 1 a!n 1"],
        &ROUNDS,
    ] {
        assert!(of(&system(safe)).is_some(), "{safe:?}");
    }
}

#[test]
fn what_is_not_safe_is_not_drained() {
    let [a, b] = DUPLEX;
    for (from, to) in [
        // Something is not received while the side closes.
        ("1 b?y 1, ", ""),
        // The other side waits for the answer.
        (", 2 b!close 3", ""),
        // It answers with something else.
        ("2 b!close 3", "2 b!x 3"),
    ] {
        assert!(a.contains(from));
        assert_eq!(of(&system(&[&a.replace(from, to), b])), None, "{from}");
    }
    let [a, b] = ROUNDS;
    for (from, to) in [
        // What crosses is not dropped, on either side.
        ("4 b?y 4, ", ""),
        (", 4 b?end 0", ""),
        ("5 a?go 1, 5 a?stop 0", "5 a?go 1"),
        // A stop that comes late could be one of the next round.
        ("5 a?stop 0", "5 a?stop 4"),
        // The next round begins with a word of the last one.
        ("0 b!go 1", "0 b!half 1"),
    ] {
        assert!(a.contains(from) || b.contains(from), "{from}");
        assert_eq!(of(&system(&[&a.replace(from, to), &b.replace(from, to)])), None, "{from}");
    }
    // All queues can be emptied, but then `c` waits for ever; and all wait for each other.
    assert_eq!(of(&system(&["a: 0 b!x 0", "b: 0 a?x 0, 1 c!y 1", "c: 0 b?y 0"])), None);
    assert_eq!(of(&system(&["a: 0 b?x 1, 1 b!y 0", "b: 0 a?y 1, 1 a!x 0"])), None);
}

#[test]
fn a_certificate_that_is_changed_proves_nothing() {
    let duplex = system(&DUPLEX);
    let drained = of(&duplex).unwrap();
    let refused = |change: &dyn Fn(&mut Drained)| {
        let mut changed = drained.clone();
        change(&mut changed);
        assert_ne!(changed, drained);
        check(&changed, duplex.machines()).map_err(|Invalid { fault, .. }| fault).unwrap_err()
    };
    let count = drained.situations.len();
    for at in 0..count {
        refused(&|changed| drop(changed.situations.remove(at)));
        let queues: Vec<_> = drained.situations[at].queues.keys().copied().collect();
        for queue in queues {
            let words =
                |changed: &mut Drained| changed.situations[at].queues.remove(&queue).unwrap();
            refused(&|changed| drop(words(changed)));
            refused(&|changed| {
                let mut words = words(changed);
                words.last = BTreeSet::new();
                changed.situations[at].queues.insert(queue, words);
            });
            for (&letter, &(least, most)) in &drained.situations[at].queues[&queue].counts {
                for count in [(least + 1, most), (least, most - 1)] {
                    refused(&|changed| {
                        let mut words = words(changed);
                        words.counts.insert(letter, count);
                        changed.situations[at].queues.insert(queue, words);
                    });
                }
            }
            refused(&|changed| {
                let mut words = words(changed);
                words.length = 2;
                changed.situations[at].queues.insert(queue, words);
            });
        }
        match &drained.situations[at].plan {
            Plan::Empty(runs) if !runs.is_empty() => {
                refused(&|changed| changed.situations[at].plan = Plan::Empty(Vec::new()));
                let run = vec![vec![(0, TransitionId::from_index(1))]];
                refused(&|changed| changed.situations[at].plan = Plan::Empty(run.clone()));
            }
            Plan::Empty(_) => {}
            _ => {
                let fault = refused(&|changed| {
                    changed.situations[at].plan = Plan::Empty(Vec::new());
                });
                assert_eq!(fault, Fault::WrongRule);
                // A stream that is only filled.
                let progress = Progress { queue: (1, 0), stage: 1, rank: 0 };
                let fill = Plan::Send(0, TransitionId::from_index(0), progress);
                refused(&|changed| changed.situations[at].plan = fill.clone());
            }
        }
    }
    assert_eq!(refused(&|changed| changed.situations.clear()), Fault::Initial);
    assert_eq!(refused(&|changed| changed.longest = 0), Fault::WrongRule);
}
