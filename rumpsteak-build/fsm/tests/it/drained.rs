//! Certificates of systems whose queues need no bound, and changed ones, which prove nothing.

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

fn system(machines: &[&str]) -> System {
    System::new(machines.iter().map(|text| common::machine(text)).collect()).unwrap()
}

fn of(system: &System) -> Option<Drained> {
    let found = drain(system, &Limits::default())?;
    assert_eq!(check(&found, system.machines()), Ok(()));
    Some(found)
}

#[test]
fn streams_through_a_relay_are_safe() {
    let relay = "r: 0 a?x 1, 0 b?y 2, 1 b!x 0, 1 b?y 3, 2 a!y 0, 2 a?x 3, 3 b!x 2, 3 a!y 1";
    let relayed = system(&["a: 0 r!x 0, 0 r?y 0", "b: 0 r!y 0, 0 r?x 0", relay]);
    let situations = of(&relayed).unwrap().situations.len();
    let found = decide(&relayed, &Limits::default());
    assert_eq!(found.verdict, Verdict::Safe(Grounds::Drained(situations)));
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
                words.last.clear();
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
    // Other machines, and one that has no copy of a state.
    for text in [DUPLEX[1], "a: 0 b!x 0, 0 b?y 0, 0 b!close 1, 0 b?close 2, 1 b?y 1"] {
        let fault = refused(&|changed| changed.machines[0] = common::machine(text));
        assert_eq!(fault, Fault::WrongRule);
    }
    assert_eq!(refused(&|changed| drop(changed.machines.pop())), Fault::WrongRule);
}
