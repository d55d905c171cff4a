//! Invariants: every "yes" to anticipation without bound has one that the checker accepts, and what
//! is forged or tampered with is found out.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use rumpsteak_fsm::certificate::invariant::Step::{self, Ahead, End, Match, Take};
use rumpsteak_fsm::certificate::invariant::{Between, Judgement, Pending, Words};
use rumpsteak_fsm::certificate::{self, Certificate, Fault, Invalid, Invariant};
use rumpsteak_fsm::{
    Action, Direction, Fsm, Limits, Role, StateId, TransitionId, Verdict, subtype,
};
use rumpsteak_oracle::{Mutation, mutate, seeds};

use crate::common::pairs::{Pair, pairs};
use crate::common::{self};

/// Two answers for each question.
const TWICE: (&str, &str) = ("m: 0 p!ok 1, 1 p!ok 2, 2 p?data 0", "m: 0 p?data 1, 1 p!ok 0");

/// The order of the pending actions is known: a·b·a·b…
const ORDERED: (&str, &str) = (
    "m: 0 p!x 1, 1 p!x 2, 2 p!x 3, 3 p?a 4, 4 p!x 5, 5 p?b 0",
    "m: 0 p?a 1, 1 p!x 2, 2 p?b 3, 3 p!x 0",
);

fn found(sub: &Fsm, sup: &Fsm) -> Option<Invariant> {
    let Verdict::Safe(proof) = subtype::check(sub, sup, &Limits::default()).unwrap() else {
        return None;
    };
    let Certificate::Invariant(invariant) = proof.certificate() else { return None };
    Some(invariant)
}

fn of((sub, sup): (&str, &str)) -> (Fsm, Fsm, Invariant) {
    let (sub, sup) = (common::machine(sub), common::machine(sup));
    let invariant = found(&sub, &sup).unwrap();
    assert_eq!(proves(&invariant, &sub, &sup), Ok(()), "{invariant:?}");
    (sub, sup, invariant)
}

fn proves(invariant: &Invariant, sub: &Fsm, sup: &Fsm) -> Result<(), Invalid> {
    certificate::check(&Certificate::Invariant(invariant.clone()), sub, sup)
}

fn state(index: usize) -> StateId {
    StateId::from_index(index)
}

fn letters(word: &[usize]) -> Vec<TransitionId> {
    word.iter().map(|&l| TransitionId::from_index(l)).collect()
}

fn exactly(word: &[usize], rank: u32) -> Pending {
    Pending { words: Words::Exactly(letters(word)), rank }
}

fn between(first: &[usize], last: &[usize], windows: &[&[usize]], rank: u32) -> Pending {
    let words = Words::Between(Between {
        first: letters(first),
        last: letters(last),
        windows: windows.iter().map(|window| letters(window)).collect(),
    });
    Pending { words, rank }
}

fn judgement(sub: usize, sup: usize, pending: &[Pending], rule: Step, next: &[u32]) -> Judgement {
    Judgement {
        sub: state(sub),
        sup: state(sup),
        pending: pending.to_vec(),
        rule,
        next: next.to_vec(),
    }
}

#[test]
fn an_invariant_says_what_may_be_pending() {
    // The example of the module's page; letter 0 is `p?data`.
    let data = |rank| between(&[], &[], &[&[0]], rank);
    let (_, _, invariant) = of(TWICE);
    assert_eq!(
        invariant.judgements,
        [
            judgement(0, 0, &[], Ahead, &[1]),
            judgement(0, 1, &[data(3)], Match, &[2]),
            judgement(1, 0, &[data(2)], Ahead, &[3]),
            judgement(1, 1, &[data(1)], Match, &[4]),
            judgement(2, 0, &[data(0)], Take, &[0, 5]),
            judgement(0, 0, &[data(4)], Ahead, &[1]),
        ]
    );
    // The order is known where it matters: letter 0 is `p?a`, letter 2 is `p?b`.
    let (_, _, invariant) = of(ORDERED);
    let ab: &[&[usize]] = &[&[0, 2], &[2, 0]];
    assert_eq!(
        invariant.judgements[3],
        judgement(1, 3, &[between(&[0], &[2], ab, 3)], Match, &[4])
    );
}

/// Proofs that no engine writes: one word in place of a set, and larger sets.
#[test]
fn an_invariant_may_say_more_or_less_than_the_engine() {
    let (sub, sup) = (common::machine(TWICE.0), common::machine(TWICE.1));
    let data = |rank| between(&[0], &[0], &[&[0, 0]], rank);
    let one = |rank| exactly(&[0], rank);
    let invariant = Invariant {
        judgements: vec![
            judgement(0, 0, &[], Ahead, &[1]),
            judgement(0, 1, &[one(3)], Match, &[2]),
            judgement(1, 0, &[one(2)], Ahead, &[3]),
            judgement(1, 1, &[data(1)], Match, &[4]),
            judgement(2, 0, &[data(0)], Take, &[5, 6]),
            judgement(0, 0, &[one(5)], Ahead, &[7]),
            judgement(0, 0, &[data(5)], Ahead, &[7]),
            judgement(0, 1, &[data(4)], Match, &[8]),
            judgement(1, 0, &[data(3)], Ahead, &[3]),
        ],
    };
    assert_eq!(proves(&invariant, &sub, &sup), Ok(()));
    // Not even that: with a bound, it is a derivation in other words.
    let (sub, sup) = ("m: 0 p!ok 1, 1 q?data 2", "m: 0 q?data 1, 1 p!ok 2");
    let invariant = Invariant {
        judgements: vec![
            judgement(0, 0, &[], Ahead, &[1]),
            judgement(0, 1, &[exactly(&[0], 1)], Match, &[2]),
            judgement(1, 2, &[exactly(&[0], 0)], Take, &[3]),
            judgement(2, 2, &[], End, &[]),
        ],
    };
    let machines = (common::machine(sub), common::machine(sup));
    assert_eq!(proves(&invariant, &machines.0, &machines.1), Ok(()));
}

#[track_caller]
fn tampered(pair: (&str, &str), change: impl FnOnce(&mut Vec<Judgement>)) -> (usize, usize, Fault) {
    let (sub, sup, mut invariant) = of(pair);
    change(&mut invariant.judgements);
    let Invalid { situation, rule, fault } = proves(&invariant, &sub, &sup).unwrap_err();
    (situation, rule, fault)
}

#[test]
fn each_fault_is_found() {
    let twice = |change: fn(&mut Vec<Judgement>)| tampered(TWICE, change);
    // The first judgement.
    assert_eq!(twice(|j| j.clear()), (0, 0, Fault::Initial));
    assert_eq!(twice(|j| j.swap(0, 1)), (0, 0, Fault::Initial));
    assert_eq!(twice(|j| j[0].pending = j[1].pending.clone()), (0, 0, Fault::Initial));
    assert_eq!(twice(|j| j[0].sub = StateId::from_index(1)), (0, 0, Fault::Initial));
    assert_eq!(twice(|j| j[0].sup = StateId::from_index(1)), (0, 0, Fault::Initial));

    // What does not exist.
    assert_eq!(twice(|j| drop(j.pop())), (4, 1, Fault::Unknown));
    assert_eq!(twice(|j| j[2].sub = StateId::from_index(9)), (2, 0, Fault::Unknown));
    assert_eq!(twice(|j| j[2].sup = StateId::from_index(2)), (2, 0, Fault::Unknown));
    assert_eq!(twice(|j| j[2].pending[0] = exactly(&[2], 2)), (2, 0, Fault::Unknown));
    assert_eq!(twice(|j| j[3].next[0] = 6), (3, 0, Fault::Unknown));

    // Invalid sets of words: the empty word, no windows, wrong lengths, letters of two kinds, a
    // kind twice.
    for pending in [
        exactly(&[], 2),
        exactly(&[0, 1], 2),
        between(&[], &[], &[], 2),
        between(&[0], &[0], &[], 2),
        between(&[0], &[], &[&[0, 0]], 2),
        between(&[], &[0], &[&[0]], 2),
        between(&[0], &[0], &[&[0, 0], &[0]], 2),
        between(&[], &[], &[&[0, 0]], 2),
        between(&[0], &[0], &[&[0, 1]], 2),
        between(&[0], &[1], &[&[0, 0]], 2),
    ] {
        let fault = tampered(TWICE, |j| j[2].pending[0] = pending);
        assert_eq!(fault, (2, 0, Fault::NoWords));
    }
    assert_eq!(
        twice(|j| {
            let again = j[2].pending[0].clone();
            j[2].pending.push(again);
        }),
        (2, 0, Fault::NoWords)
    );

    // Another rule.
    assert_eq!(twice(|j| j[0].rule = End), (0, 0, Fault::WrongRule));
    assert_eq!(twice(|j| j[0].rule = Match), (0, 0, Fault::WrongRule));
    assert_eq!(twice(|j| j[0].rule = Take), (0, 0, Fault::WrongRule));
    assert_eq!(twice(|j| j[1].rule = Ahead), (1, 0, Fault::OtherClaim));
    // What both do next is one kind, but an earlier action of it is pending.
    assert_eq!(twice(|j| j[4].rule = Match), (4, 0, Fault::WrongRule));

    // More or fewer claims than goals.
    assert_eq!(twice(|j| j[0].next.clear()), (0, 0, Fault::OpenGoal));
    assert_eq!(twice(|j| j[4].next.truncate(1)), (4, 1, Fault::OpenGoal));
    assert_eq!(twice(|j| j[4].next.push(0)), (4, 2, Fault::NoGoal));

    // A goal is another claim: the subtype's state, the supertype's, and what is pending.
    assert_eq!(twice(|j| j[1].next[0] = 0), (1, 0, Fault::OtherClaim));
    assert_eq!(twice(|j| j[2].sub = StateId::from_index(0)), (1, 0, Fault::OtherClaim));
    assert_eq!(twice(|j| j[2].sup = StateId::from_index(1)), (1, 0, Fault::OtherClaim));
    assert_eq!(twice(|j| j[2].pending.clear()), (1, 0, Fault::OtherClaim));
    assert_eq!(twice(|j| j[2].pending[0] = exactly(&[0], 2)), (1, 0, Fault::OtherClaim));
    assert_eq!(twice(|j| j[2].pending.push(exactly(&[1], 9))), (1, 0, Fault::OtherClaim));
    assert_eq!(twice(|j| j[4].next.swap(0, 1)), (4, 0, Fault::OtherClaim));
    // A window is missing, or the ends are others.
    for change in [
        |words: &mut Between| assert_eq!(words.windows.remove(0), letters(&[0, 2])),
        |words: &mut Between| words.first = letters(&[2]),
        |words: &mut Between| words.last = letters(&[0]),
    ] {
        let fault = tampered(ORDERED, |j| match &mut j[4].pending[0].words {
            Words::Between(words) => change(words),
            words => panic!("{words:?}"),
        });
        assert_eq!(fault, (3, 0, Fault::OtherClaim));
    }
    // More windows than need be: a letter b may come first, which is not received there.
    assert_eq!(
        tampered(ORDERED, |j| {
            for judgement in &mut j[1..] {
                for pending in &mut judgement.pending {
                    *pending = between(&[], &[], &[&[0], &[2]], pending.rank);
                }
            }
        })
        .2,
        Fault::NotHandled
    );

    // Machines that do not stand for local types.
    let (sub, sup, invariant) = of(TWICE);
    let mixed = common::machine("a: 0 b!x 1, 0 b?y 1");
    for (sub, sup) in [(&mixed, &sup), (&sub, &mixed)] {
        let invalid = proves(&invariant, sub, sup).unwrap_err();
        assert_eq!(invalid.fault, Fault::NotDirected);
        assert_eq!(
            invalid.to_string(),
            "the certificate is not valid at rule 0 of situation 0: a machine is not a local type"
        );
    }
}

#[test]
fn each_rank_counts() {
    for Pair { sub, sup, source, .. } in pairs() {
        let Some(invariant) = found(&sub, &sup) else { continue };
        let steps: Vec<(usize, usize)> = (0..invariant.judgements.len())
            .flat_map(|at| (0..invariant.judgements[at].pending.len()).map(move |p| (at, p)))
            .collect();
        let (mut refused, mut highest) = (0, 0);
        for &(at, place) in &steps {
            let mut changed = invariant.clone();
            let rank = &mut changed.judgements[at].pending[place].rank;
            highest = highest.max(*rank);
            if *rank == 0 {
                continue;
            }
            *rank = 0;
            // Ranks are as small as can be, so a lower one is too low.
            let fault = proves(&changed, &sub, &sup).map_err(|invalid| invalid.fault);
            assert_eq!(fault, Err(Fault::Rank), "{changed:?}");
            refused += 1;
        }
        assert!(refused > 0 && highest > 0, "{source}");
        // All may be raised by the same.
        let mut changed = invariant.clone();
        for pending in changed.judgements.iter_mut().flat_map(|j| &mut j.pending) {
            pending.rank += 5;
        }
        assert_eq!(proves(&changed, &sub, &sup), Ok(()));
        // And without any, nothing is said about what is put off.
        for pending in changed.judgements.iter_mut().flat_map(|j| &mut j.pending) {
            pending.rank = u32::MAX;
        }
        assert_eq!(proves(&changed, &sub, &sup).map_err(|invalid| invalid.fault), Err(Fault::Rank));
    }
}

/// Checks an invariant that is written by hand, as by an engine that lacks a rule.
fn forged(sub: &str, sup: &str, judgements: Vec<Judgement>) -> Result<(), (usize, Fault)> {
    let (sub, sup) = (common::machine(sub), common::machine(sup));
    proves(&Invariant { judgements }, &sub, &sup)
        .map_err(|Invalid { situation, fault, .. }| (situation, fault))
}

#[test]
fn an_input_does_not_overtake_an_output() {
    let output = || exactly(&[0], 2);
    // By `Match`.
    let judgements = vec![
        judgement(0, 0, &[], Ahead, &[1]),
        judgement(0, 1, &[output()], Match, &[2]),
        judgement(1, 2, &[exactly(&[0], 1)], Take, &[3]),
        judgement(2, 2, &[], End, &[]),
    ];
    let (first, second) = ("a: 0 c?y 1, 1 b!x 2", "a: 0 b!x 1, 1 c?y 2");
    assert_eq!(forged(first, second, judgements.clone()), Err((1, Fault::Order)));
    // The other way round is R2.
    assert_eq!(forged(second, first, judgements), Ok(()));
    // By `Take`.
    let judgements = vec![
        judgement(0, 0, &[], Ahead, &[1]),
        judgement(0, 1, &[output()], Ahead, &[2]),
        judgement(0, 2, &[exactly(&[0], 1), exactly(&[1], 1)], Take, &[3]),
        judgement(1, 2, &[exactly(&[0], 0)], Take, &[4]),
        judgement(2, 2, &[], End, &[]),
    ];
    assert_eq!(forged(first, second, judgements.clone()), Err((2, Fault::Order)));
    // Both are pending, and the output goes first.
    assert_eq!(forged(second, first, judgements), Ok(()));
}

#[test]
fn messages_of_one_kind_keep_their_order() {
    let two = |then: Step| {
        vec![
            judgement(0, 0, &[], Ahead, &[1]),
            judgement(0, 1, &[exactly(&[0], 3)], then, &[2]),
            judgement(0, 2, &[exactly(&[0, 1], 2)], Take, &[3]),
            judgement(1, 2, &[exactly(&[1], 1)], Take, &[4]),
            judgement(2, 2, &[], End, &[]),
        ]
    };
    for (way, fault) in [("?", Fault::NotHandled), ("!", Fault::Order)] {
        let xy = format!("a: 0 b{way}x 1, 1 b{way}y 2");
        let yx = format!("a: 0 b{way}y 1, 1 b{way}x 2");
        assert_eq!(forged(&xy, &xy, two(Ahead)), Ok(()));
        assert_eq!(forged(&yx, &xy, two(Ahead)), Err((2, fault)));
        // What is pending goes first, though both do the kind.
        assert_eq!(forged(&yx, &xy, two(Match)), Err((1, Fault::WrongRule)));
    }
}

#[test]
fn choices_are_whose_they_are() {
    let both = || vec![judgement(0, 0, &[], Match, &[1]), judgement(1, 1, &[], End, &[])];
    let twice = || {
        let mut judgements = both();
        judgements[0].next = vec![1, 1];
        judgements
    };
    // The subtype chooses among its outputs, and each must be offered.
    let (one, two) = ("a: 0 b!x 1", "a: 0 b!x 1, 0 b!y 1");
    assert_eq!(forged(one, two, both()), Ok(()));
    assert_eq!(forged(two, one, both()), Err((0, Fault::Order)));
    assert_eq!(forged(two, two, both()), Err((0, Fault::OpenGoal)));
    assert_eq!(forged(two, two, twice()), Ok(()));
    // The peer chooses among the inputs of the supertype, and each must be received.
    let (one, two) = ("a: 0 b?x 1", "a: 0 b?x 1, 0 b?y 1");
    assert_eq!(forged(two, one, both()), Ok(()));
    assert_eq!(forged(one, two, both()), Err((0, Fault::NotHandled)));
    assert_eq!(forged(two, two, both()), Err((0, Fault::OpenGoal)));
    assert_eq!(forged(two, two, twice()), Ok(()));
    // Sorts count.
    let fault = Err((0, Fault::Order));
    assert_eq!(forged("a: 0 b!x(i32) 1", "a: 0 b!x(i64) 1", both()), fault);

    // An output that is overtaken is not chosen …
    let ahead = |goals: &[u32]| {
        vec![
            judgement(0, 0, &[], Ahead, goals),
            judgement(0, 1, &[exactly(&[0], 1)], Match, &[2]),
            judgement(1, 2, &[exactly(&[0], 0)], Take, &[3]),
            judgement(2, 2, &[], End, &[]),
        ]
    };
    let sub = "a: 0 c!z 1, 1 b!x 2";
    assert_eq!(forged(sub, "a: 0 b!x 1, 1 c!z 2", ahead(&[1])), Ok(()));
    for goals in [&[1][..], &[1, 1]] {
        let fault = forged(sub, "a: 0 b!x 1, 0 b!y 1, 1 c!z 2", ahead(goals));
        assert_eq!(fault, Err((0, Fault::Order)));
    }
    // … nor may the subtype still choose then.
    let sub = "a: 0 c!z 1, 1 b!x 2, 1 b!y 2";
    assert_eq!(forged(sub, "a: 0 b!x 1, 1 c!z 2", ahead(&[1])), Err((2, Fault::Order)));
    // An input that is overtaken may be any of them.
    let sup = "a: 0 b?x 1, 0 b?y 1, 1 c!z 2";
    for goals in [&[1][..], &[1, 1]] {
        assert!(forged("a: 0 c!z 1, 1 b?x 2, 1 b?y 2", sup, ahead(goals)).is_err());
    }
    let set = |rank| between(&[], &[], &[&[0], &[1]], rank);
    let judgements = |taken: &[u32]| {
        vec![
            judgement(0, 0, &[], Ahead, &[1, 1]),
            judgement(0, 1, &[set(1)], Match, &[2]),
            judgement(1, 2, &[set(0)], Take, taken),
            judgement(2, 2, &[], End, &[]),
        ]
    };
    let sub = "a: 0 c!z 1, 1 b?x 2, 1 b?y 2";
    // Any number of them, says the set, and then two may be too many.
    assert_eq!(forged(sub, sup, judgements(&[3, 3])), Err((2, Fault::OtherClaim)));
}

#[test]
fn who_ends_has_done_everything() {
    let end = |pending: &[Pending]| {
        vec![judgement(0, 0, &[], Ahead, &[1]), judgement(0, 1, pending, End, &[])]
    };
    let nothing = vec![judgement(0, 0, &[], End, &[])];
    assert_eq!(forged("a:", "a:", nothing.clone()), Ok(()));
    assert_eq!(forged("a:", "a: 0 b?x 1", nothing.clone()), Err((0, Fault::WrongRule)));
    assert_eq!(forged("a: 0 b?x 1", "a:", nothing), Err((0, Fault::WrongRule)));
    assert_eq!(forged("a:", "a: 0 b?x 1", end(&[exactly(&[0], 0)])), Err((1, Fault::WrongRule)));
    assert_eq!(forged("a:", "a: 0 b?x 1", end(&[])), Err((0, Fault::OtherClaim)));
    // Nor does it help that the supertype goes on.
    let ahead = vec![
        judgement(0, 0, &[], Ahead, &[1]),
        judgement(0, 0, &[between(&[], &[], &[&[0]], 7)], Ahead, &[1]),
    ];
    assert_eq!(forged("a:", "a: 0 b?x 0", ahead), Err((1, Fault::Rank)));
}

#[test]
fn what_stays_pending_for_ever_has_no_ranks() {
    // PPoPP'22, App. B.2: q's message is never taken. With any ranks.
    let (sub, sup) = ("a: 0 p?l 0", "a: 0 q?m 1, 1 p?l 1");
    for ranks in [(0, 0), (1, 0), (7, 3), (0, 1), (u32::MAX, u32::MAX)] {
        let judgements = vec![
            judgement(0, 0, &[], Ahead, &[1]),
            judgement(0, 1, &[exactly(&[0], ranks.0)], Match, &[2]),
            judgement(0, 1, &[exactly(&[0], ranks.1)], Match, &[1]),
        ];
        let Err((_, fault)) = forged(sub, sup, judgements) else {
            panic!("q?m is forgotten");
        };
        assert_eq!(fault, Fault::Rank);
    }
    // One is taken in each round, and two are promised: some are taken for ever, and each in its
    // turn. That holds.
    let (sub, sup, invariant) = of(TWICE);
    assert_eq!(proves(&invariant, &sub, &sup), Ok(()));
    // But r's is not, if only q's is taken.
    let sub = "a: 0 p!ok 1, 1 q?m 0";
    let sup = "a: 0 q?m 1, 1 r?n 2, 2 p!ok 0";
    let many = |rank| between(&[], &[], &[&[1]], rank);
    let judgements = vec![
        judgement(0, 0, &[], Ahead, &[1]),
        judgement(0, 1, &[exactly(&[0], 2)], Ahead, &[2]),
        judgement(0, 2, &[exactly(&[0], 1), many(9)], Match, &[3]),
        judgement(1, 0, &[exactly(&[0], 0), many(8)], Take, &[4]),
        judgement(0, 0, &[many(7)], Ahead, &[5]),
        judgement(0, 1, &[exactly(&[0], 2), many(6)], Ahead, &[2]),
    ];
    assert_eq!(forged(sub, sup, judgements), Err((5, Fault::Rank)));
}

pub(crate) fn tamper(invariant: &mut Invariant, sub: &Fsm, sup: &Fsm, rng: &mut Rng) {
    let count = invariant.judgements.len();
    if count == 0 {
        return;
    }
    let any = |rng: &mut Rng| TransitionId::from_index(rng.usize(..sup.transition_count().max(1)));
    let other = rng.usize(..count);
    let index = rng.usize(..count);
    let choice = rng.usize(..16);
    if choice == 0 {
        invariant.judgements.remove(index);
        return;
    }
    if choice == 1 {
        invariant.judgements.swap(index, other);
        return;
    }
    if choice == 2 {
        let (own, others) = (
            invariant.judgements[index].pending.clone(),
            invariant.judgements[other].pending.clone(),
        );
        invariant.judgements[index].pending = others;
        invariant.judgements[other].pending = own;
        return;
    }
    let judgement = &mut invariant.judgements[index];
    let goal = rng.usize(..judgement.next.len().max(1));
    match choice {
        3 => judgement.sub = StateId::from_index(rng.usize(..sub.len())),
        4 => judgement.sup = StateId::from_index(rng.usize(..sup.len())),
        5 => {
            judgement.rule = [End, Match, Take, Ahead][rng.usize(..4)];
        }
        6 => {
            if let Some(next) = judgement.next.get_mut(goal) {
                *next = other as u32;
            }
        }
        7 => judgement.next.truncate(goal),
        8 => judgement.next.push(other as u32),
        9 => judgement
            .pending
            .push(Pending { words: Words::Exactly(vec![any(rng)]), rank: rng.usize(..4) as u32 }),
        _ => {
            let place = rng.usize(..judgement.pending.len().max(1));
            let Some(pending) = judgement.pending.get_mut(place) else { return };
            match choice {
                10 => {
                    judgement.pending.remove(place);
                }
                11 => pending.rank = (pending.rank + rng.usize(..3) as u32).saturating_sub(1),
                12 => pending.rank = rng.usize(..4) as u32,
                _ => match &mut pending.words {
                    Words::Exactly(word) => match choice {
                        13 => drop(word.pop()),
                        14 => word.push(any(rng)),
                        _ => {
                            let at = rng.usize(..word.len());
                            word[at] = any(rng);
                        }
                    },
                    Words::Between(Between { first, last, windows }) => {
                        let window = rng.usize(..windows.len().max(1));
                        match choice {
                            13 if window < windows.len() => drop(windows.remove(window)),
                            14 => std::mem::swap(first, last),
                            _ => {
                                if let Some(window) = windows.get_mut(window) {
                                    let at = rng.usize(..window.len());
                                    window[at] = any(rng);
                                }
                            }
                        }
                    }
                },
            }
        }
    }
}

/// Invariants the wrong way round: an input does not overtake an output.
#[test]
fn no_invariant_proves_the_opposite() {
    let pairs = pairs();
    let invariants = pairs.iter().filter_map(|pair| found(&pair.sub, &pair.sup));
    let invariants: Vec<Invariant> = invariants.collect();
    for Pair { sub, sup, .. } in pairs.iter().filter(|pair| found(&pair.sub, &pair.sup).is_some()) {
        for invariant in &invariants {
            assert!(proves(invariant, sup, sub).is_err(), "{sup:?} {sub:?}");
        }
    }
}

type Kind = (Role, Direction);

fn kind_of(action: &Action) -> Kind {
    (action.peer.clone(), action.direction)
}

/// A judgement by its states and the kinds that are pending. Of the words, only the letters are
/// known (m = 0).
type Key = (StateId, StateId, BTreeSet<Kind>);

/// An engine without scruples: in each judgement it picks any rule, whether it may be applied or
/// not, and follows what it leads to.
struct Reckless<'a> {
    sub: &'a Fsm,
    sup: &'a Fsm,
    ids: BTreeMap<Key, usize>,
    rules: Vec<Step>,
    letters: Vec<BTreeMap<Kind, BTreeSet<TransitionId>>>,
}

impl<'a> Reckless<'a> {
    fn run(sub: &'a Fsm, sup: &'a Fsm, rng: &mut Rng) -> Invariant {
        let mut engine = Self { sub, sup, ids: BTreeMap::new(), rules: vec![], letters: vec![] };
        engine.meet((sub.initial(), sup.initial(), BTreeMap::new()), rng);
        loop {
            let before = engine.letters.clone();
            let keys: Vec<Key> = engine.ids.keys().cloned().collect();
            for key in keys {
                for goal in engine.goals(&key) {
                    engine.meet(goal, rng);
                }
            }
            if engine.letters == before {
                return engine.written();
            }
        }
    }

    fn meet(
        &mut self,
        (sub, sup, letters): (StateId, StateId, BTreeMap<Kind, BTreeSet<TransitionId>>),
        rng: &mut Rng,
    ) -> usize {
        let key = (sub, sup, letters.keys().cloned().collect());
        let next = self.ids.len();
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            let own = self.sub.transitions_from(sub).next();
            let theirs = self.sup.transitions_from(sup).next();
            let kind = own.map(|own| kind_of(own.action));
            let mut rules = vec![];
            match (&kind, theirs) {
                (None, None) => rules.push(End),
                (Some(kind), _) if letters.contains_key(kind) => rules.extend([Take; 6]),
                (Some(kind), Some(theirs)) if *kind == kind_of(theirs.action) => {
                    rules.extend([Match; 6]);
                }
                _ => {}
            }
            if theirs.is_some() {
                rules.push(Ahead);
            }
            rules.push(End);
            self.rules.push(rules[rng.usize(..rules.len().max(2) - 1)]);
            self.letters.push(BTreeMap::new());
        }
        for (kind, letters) in letters {
            self.letters[id].entry(kind).or_default().extend(letters);
        }
        id
    }

    fn goals(&self, key: &Key) -> Vec<(StateId, StateId, BTreeMap<Kind, BTreeSet<TransitionId>>)> {
        let (sub, sup, _) = *key;
        let id = self.ids[key];
        let letters = &self.letters[id];
        let own: Vec<_> = self.sub.transitions_from(sub).collect();
        let theirs: Vec<_> = self.sup.transitions_from(sup).collect();
        let mut goals = vec![];
        match self.rules[id] {
            End => {}
            Match => {
                let sends = own[0].action.direction == Direction::Send;
                let (all, others) = if sends { (&own, &theirs) } else { (&theirs, &own) };
                for one in all {
                    if let Some(other) = others.iter().find(|other| other.action == one.action) {
                        let (own, theirs) = if sends { (one, other) } else { (other, one) };
                        goals.push((own.target, theirs.target, letters.clone()));
                    }
                }
            }
            Take => {
                let kind = kind_of(own[0].action);
                for &letter in &letters[&kind] {
                    let promised = self.sup.transition(letter).action;
                    if let Some(done) = own.iter().find(|own| own.action == promised) {
                        let mut last = letters.clone();
                        last.remove(&kind);
                        goals.push((done.target, sup, last));
                        goals.push((done.target, sup, letters.clone()));
                    }
                }
            }
            Ahead => {
                for next in theirs {
                    let mut letters = letters.clone();
                    letters.entry(kind_of(next.action)).or_default().insert(next.id);
                    goals.push((sub, next.target, letters));
                }
            }
        }
        goals
    }

    /// With ranks that are right if there are any.
    fn written(&self) -> Invariant {
        let mut judgements = vec![judgement(0, 0, &[], End, &[]); self.ids.len()];
        for (key, &id) in &self.ids {
            let goals = self.goals(key).into_iter();
            let next = goals.map(|(sub, sup, letters)| {
                self.ids[&(sub, sup, letters.into_keys().collect())] as u32
            });
            judgements[id] = Judgement {
                sub: key.0,
                sup: key.1,
                pending: vec![],
                rule: self.rules[id],
                next: next.collect(),
            };
        }
        let kinds: BTreeSet<&Kind> = self.letters.iter().flat_map(|l| l.keys()).collect();
        for kind in kinds {
            // As many rounds as there are judgements raise a rank on no loop further.
            let mut ranks = vec![0; judgements.len()];
            let taken = |judgement: &Judgement| {
                let own = self.sub.transitions_from(judgement.sub).next();
                judgement.rule == Take && own.is_some_and(|own| kind_of(own.action) == *kind)
            };
            for _ in 0..judgements.len() {
                for (id, judgement) in judgements.iter().enumerate() {
                    if self.letters[id].contains_key(kind) && !taken(judgement) {
                        for &next in &judgement.next {
                            ranks[id] = ranks[id].max(ranks[next as usize] + 1);
                        }
                    }
                }
            }
            for (id, judgement) in judgements.iter_mut().enumerate() {
                if let Some(letters) = self.letters[id].get(kind) {
                    judgement.pending.push(Pending {
                        words: Words::Between(Between {
                            first: vec![],
                            last: vec![],
                            windows: letters.iter().map(|&letter| vec![letter]).collect(),
                        }),
                        rank: ranks[id],
                    });
                }
            }
        }
        Invariant { judgements }
    }
}

/// Whatever an engine may do wrong, what the checker accepts holds.
#[test]
fn a_reckless_engine_proves_nothing_false() {
    let mut rng = Rng::with_seed(23);
    let limits = Limits::default().steps(20_000);
    let (mut accepted, mut refused, mut own) = (0, 0, 0);
    let pairs = seeds(1_000).count();
    for pair in 0..pairs {
        let sup = common::random_machine(&mut rng, 1 + pair % 2, 10);
        let mut sub = sup.clone();
        for _ in 0..1 + rng.usize(..3) {
            sub = mutate(&sub, Mutation::any(&mut rng), &mut rng).unwrap_or(sub);
        }
        if sub.len() > 12 || sub.check_directed().is_err() {
            continue;
        }
        let verdict = subtype::check(&sub, &sup, &limits).unwrap();
        for _ in 0..5 {
            let invariant = Reckless::run(&sub, &sup, &mut rng);
            match (proves(&invariant, &sub, &sup), &verdict) {
                (Ok(()), Verdict::Unsafe(refusal)) => {
                    panic!("{sub:?}\n{sup:?}\n{refusal:?}\n{invariant:?}")
                }
                (Ok(()), Verdict::Safe(_)) => accepted += 1,
                (Ok(()), Verdict::Undecided(_)) => own += 1,
                (Err(_), Verdict::Unsafe(_)) => refused += 1,
                (Err(_), _) => {}
            }
        }
    }
    println!(
        "{accepted} accepted that hold, {own} that are undecided; {refused} refused that do not hold"
    );
    assert!(accepted > pairs / 10 && refused > pairs / 10, "{accepted} {refused}");
}
