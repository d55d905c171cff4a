//! Certificates: every "yes" has one that the checker accepts, and one that is tampered with never
//! makes a "yes" of a "no".

use fastrand::Rng;
use rumpsteak_fsm::certificate::derivation::Inference::{
    self, Assume, Choose, Drop, End, Take, Unfold,
};
use rumpsteak_fsm::certificate::derivation::{DEEPEST, Situation, Tail, Tree};
use rumpsteak_fsm::certificate::{self, Certificate, Derivation, Fault, Invalid};
use rumpsteak_fsm::{Fsm, Limits, StateId, TransitionId, Verdict, subtype};
use rumpsteak_oracle::{Mutation, mutate, seeds};

use crate::common::pairs::{Pair, pairs};
use crate::common::{self};
use crate::invariant;

const KERNEL: &str = "k: 0 s!ready 1, 1 s?value(i32) 2, 2 t?ready 3, 3 t!value(i32) 0";
const AHEAD: &str = "k: 0 s!ready 1, 1 s!ready 2, 2 s?value(i32) 3, 3 t?ready 4, 4 t!value(i32) 1";

/// A choice that is overtaken.
const OVERTAKEN: (&str, &str) = (
    "a: 0 c!x 1, 1 b!l 2, 1 b!r 3, 2 d!o 4, 3 d!u 4",
    "a: 0 b!l 1, 0 b!r 2, 1 c!x 3, 2 c!x 4, 3 d!o 5, 4 d!u 5",
);

fn proves(derivation: &Derivation, sub: &Fsm, sup: &Fsm) -> Result<(), Invalid> {
    certificate::check(&Certificate::Derivation(derivation.clone()), sub, sup)
}

fn of(sub: &str, sup: &str) -> (Fsm, Fsm, Derivation) {
    let (sub, sup) = (common::machine(sub), common::machine(sup));
    let verdict = subtype::check(&sub, &sup, &Limits::default()).unwrap();
    let Verdict::Safe(proof) = verdict else {
        panic!("{verdict:?}");
    };
    let Certificate::Derivation(derivation) = proof.certificate() else {
        panic!("{proof:?}");
    };
    assert_eq!(proves(&derivation, &sub, &sup), Ok(()));
    (sub, sup, derivation)
}

/// The claims prove that one machine may take the place of the other, or the first fault in them.
fn prove(sub: &str, sup: &str, situations: Vec<Situation>) -> Result<(), (usize, usize, Fault)> {
    proves(&Derivation { situations }, &common::machine(sub), &common::machine(sup))
        .map_err(|Invalid { situation, rule, fault }| (situation, rule, fault))
}

/// The claim about the initial state of the subtype and what follows in the supertype.
fn claim(tail: Tail, rules: &[Inference]) -> Situation {
    from(0, Tree { spine: vec![], tail }, rules.to_vec())
}

fn from(state: usize, tree: Tree, rules: Vec<Inference>) -> Situation {
    Situation { state: StateId::from_index(state), tree, rules, ranks: vec![] }
}

fn at(state: usize) -> Tail {
    Tail::State(StateId::from_index(state))
}

fn unfold() -> Inference {
    Unfold(vec![])
}

#[test]
fn a_certificate_is_a_derivation() {
    let (_, _, certificate) = of(AHEAD, KERNEL);
    let rules: Vec<&[Inference]> =
        certificate.situations.iter().map(|situation| &situation.rules[..]).collect();
    assert_eq!(
        rules,
        [
            // s!ready, as the supertype.
            &[Choose, unfold(), Take, Assume(1)][..],
            // The second s!ready overtakes three actions; then these are done.
            &[
                Choose,
                unfold(),
                unfold(),
                unfold(),
                unfold(),
                Take,
                Take,
                Take,
                Choose,
                Take,
                Assume(1),
            ],
        ]
    );
}

#[track_caller]
fn tampered(sub: &str, sup: &str, change: impl FnOnce(&mut Derivation)) -> Fault {
    let (sub, sup, mut certificate) = of(sub, sup);
    change(&mut certificate);
    proves(&certificate, &sub, &sup).unwrap_err().fault
}

#[test]
fn each_fault_is_found() {
    let kernel = |change: fn(&mut Derivation)| tampered(AHEAD, KERNEL, change);
    assert_eq!(kernel(|c| c.situations.clear()), Fault::Initial);
    assert_eq!(kernel(|c| c.situations.swap(0, 1)), Fault::Initial);
    assert_eq!(kernel(|c| c.situations[0].state = StateId::from_index(99)), Fault::Unknown);
    assert_eq!(
        kernel(|c| c.situations[1].tree.spine.push(TransitionId::from_index(99))),
        Fault::Unknown
    );
    assert_eq!(kernel(|c| c.situations[1].tree.tail = at(99)), Fault::Unknown);
    assert_eq!(kernel(|c| c.situations[0].rules[3] = Assume(9)), Fault::Unknown);
    assert_eq!(kernel(|c| c.situations[0].rules[1] = Unfold(vec![0])), Fault::Unknown);
    assert_eq!(kernel(|c| c.situations[0].rules[1] = Drop(vec![])), Fault::Unknown);
    assert_eq!(kernel(|c| c.situations.truncate(1)), Fault::Unknown);
    // Rules that do not fit.
    assert_eq!(kernel(|c| c.situations[0].rules[0] = Take), Fault::WrongRule);
    assert_eq!(kernel(|c| c.situations[0].rules[0] = End), Fault::WrongRule);
    assert_eq!(kernel(|c| c.situations[0].rules[1] = Choose), Fault::WrongRule);
    assert_eq!(kernel(|c| drop(c.situations[0].rules.remove(1))), Fault::Order);
    assert_eq!(kernel(|c| drop(c.situations[0].rules.pop())), Fault::OpenGoal);
    assert_eq!(kernel(|c| c.situations[0].rules.push(End)), Fault::NoGoal);
    // Another claim is assumed: the state, the spine or what follows differs, or an output is still
    // to be taken.
    assert_eq!(kernel(|c| c.situations[0].rules[3] = Assume(0)), Fault::OtherClaim);
    assert_eq!(kernel(|c| c.situations[0].rules[1] = Assume(0)), Fault::OtherClaim);
    assert_eq!(kernel(|c| c.situations[1].tree.tail = at(3)), Fault::OtherClaim);
    assert_eq!(kernel(|c| c.situations[0].rules.truncate(0)), Fault::OpenGoal);
    // A claim that is assumed at once proves everything.
    assert_eq!(kernel(|c| c.situations[0].rules = vec![Assume(0)]), Fault::NoProgress);
    // A message that may come is not received.
    let (wide, narrow) = ("a: 0 b?x 1, 0 b?y 1", "a: 0 b?x 1");
    let (sub, sup, mut certificate) = of(wide, narrow);
    certificate.situations[0].rules.push(Take);
    let invalid = proves(&certificate, &sup, &sub).unwrap_err();
    assert_eq!(invalid.fault, Fault::NotHandled);
    assert_eq!(
        (invalid.situation, invalid.rule, invalid.to_string()),
        (
            0,
            3,
            "the certificate is not valid at rule 3 of situation 0: a message that may come is not received"
                .to_owned()
        )
    );
    // The supertype ends later.
    let (sub, _, certificate) = of("a:", "a:");
    let invalid = proves(&certificate, &sub, &common::machine("a: 0 b?y 1"));
    assert_eq!(invalid.unwrap_err().fault, Fault::WrongRule);
    // Machines that do not stand for local types.
    let mixed = common::machine("a: 0 b!x 1, 0 b?y 1");
    for (sub, sup) in [(&mixed, &sub), (&sub, &mixed)] {
        assert_eq!(proves(&certificate, sub, sup).unwrap_err().fault, Fault::NotDirected);
    }
    // All alternatives of a choice are dropped.
    let (sub, sup) = OVERTAKEN;
    assert_eq!(
        tampered(sub, sup, |c| {
            let position =
                c.situations[0].rules.iter().position(|rule| *rule == Unfold(vec![0])).unwrap();
            c.situations[0].rules[position] = Drop(vec![0]);
            c.situations[0].rules.insert(position, Drop(vec![0]));
        }),
        Fault::Unknown
    );
    // Choices without end inside each other.
    let mut deep = at(0);
    for _ in 0..600 {
        let tree = Tree { spine: vec![], tail: deep };
        deep = Tail::Choice(vec![(TransitionId::from_index(0), tree)]);
    }
    let fault = tampered(sub, sup, |c| c.situations[0].tree.tail = deep);
    assert_eq!(fault, Fault::TooDeep);
    let fault = tampered(sub, sup, |c| {
        c.situations[0].rules[1] = Unfold(vec![0; 600]);
    });
    assert_eq!(fault, Fault::TooDeep);
}

#[test]
fn an_input_does_not_overtake_an_output_even_in_a_certificate() {
    // As an engine would write it that had forgotten A(p).
    let check = |sub: &str, sup: &str, rules: Vec<Inference>| {
        prove(sub, sup, vec![claim(at(0), &rules)]).map_err(|(.., fault)| fault)
    };
    let input_first = vec![unfold(), unfold(), Take, Choose, Take, End];
    let (first, second) = ("a: 0 c?y 1, 1 b!x 2", "a: 0 b!x 1, 1 c?y 2");
    assert_eq!(check(first, second, input_first), Err(Fault::Order));
    // Nor the first of several.
    let input_first = vec![unfold(), unfold(), unfold(), Take, Choose, Take, Choose, Take, End];
    assert_eq!(
        check("a: 0 c?y 1, 1 b!x 2, 2 d!z 3", "a: 0 b!x 1, 1 c?y 2, 2 d!z 3", input_first),
        Err(Fault::Order)
    );
    // The other way round is R2.
    let output_first = vec![Choose, unfold(), unfold(), Take, Take, End];
    assert_eq!(check(second, first, output_first), Ok(()));
    // Two messages from one peer, and to one peer, keep their order.
    let inputs = vec![unfold(), unfold(), Take, Take, End];
    let (xy, yx) = ("a: 0 b?x 1, 1 b?y 2", "a: 0 b?y 1, 1 b?x 2");
    assert_eq!(check(xy, xy, inputs.clone()), Ok(()));
    assert_eq!(check(xy, yx, inputs), Err(Fault::NotHandled));
    let outputs = vec![unfold(), unfold(), Choose, Take, Choose, Take, End];
    let (xy, yx) = ("a: 0 b!x 1, 1 b!y 2", "a: 0 b!y 1, 1 b!x 2");
    assert_eq!(check(xy, xy, outputs.clone()), Ok(()));
    assert_eq!(check(xy, yx, outputs), Err(Fault::Order));
}

#[test]
fn an_output_is_chosen_to_be_done() {
    // It is chosen, and both end.
    let situations = vec![claim(at(0), &[Choose, End])];
    assert_eq!(prove("a: 0 b!x 1", "a:", situations), Err((0, 1, Fault::WrongRule)));
    // It is chosen, and that is where it began.
    let situations = vec![claim(at(0), &[Choose, Unfold(vec![]), Take, Choose, Assume(0)])];
    assert_eq!(
        prove("a: 0 b!x 1, 1 b!y 0", "a: 0 b!x 0", situations),
        Err((0, 4, Fault::OtherClaim))
    );
    // Of a choice, one alternative must be left, even where no way leads.
    let alone = Tree { spine: vec![], tail: at(1) };
    let choice = Tail::Choice(vec![(TransitionId::from_index(0), alone)]);
    let first = [Choose, Unfold(vec![]), Take, End];
    let situations = vec![claim(at(0), &first), claim(choice, &[Drop(vec![0])])];
    assert_eq!(prove("a: 0 b!x 1", "a: 0 b!x 1", situations), Err((1, 0, Fault::Unknown)));
}

#[test]
fn what_is_named_must_exist_up_to_the_last() {
    let machine = "a: 0 b!x 1, 0 b!y 1";
    let first = [Choose, Unfold(vec![]), Take, End, Unfold(vec![]), Take, End];
    let prove = |second| self::prove(machine, machine, vec![claim(at(0), &first), second]);
    let in_state = |state, tail| from(state, Tree { spine: vec![], tail }, vec![End]);
    assert_eq!(prove(in_state(1, at(1))), Ok(()));
    // Both machines have two states; a third one does nothing, but is not there.
    assert_eq!(prove(in_state(2, at(1))), Err((1, 1, Fault::Unknown)));
    assert_eq!(prove(in_state(1, at(2))), Err((1, 1, Fault::Unknown)));
    // A choice of two has no third alternative.
    let ends = |transition| {
        let tree = Tree { spine: vec![], tail: at(1) };
        (TransitionId::from_index(transition), tree)
    };
    let dropped = |alternative| {
        let rules = [Choose, Drop(vec![alternative]), Take];
        prove(claim(Tail::Choice(vec![ends(0), ends(1)]), &rules))
    };
    // b!x is to be taken, which only the first offers.
    assert_eq!(dropped(0), Err((1, 2, Fault::Order)));
    assert_eq!(dropped(1), Err((1, 3, Fault::OpenGoal)));
    assert_eq!(dropped(2), Err((1, 1, Fault::Unknown)));
}

#[test]
fn choices_may_be_as_deep_inside_each_other_as_it_says() {
    let machine = "a: 0 p!x 1, 1 q!a 1";
    let [x, a] = [0, 1].map(TransitionId::from_index);
    // Behind `depth` choices of one alternative each: x if it is not done yet, and then the loop.
    let tree = |depth: usize, spine: Vec<TransitionId>| {
        let mut tree = Tree { spine, tail: at(1) };
        for _ in 0..depth {
            let tail = Tail::Choice(vec![(a, tree)]);
            tree = Tree { spine: vec![], tail };
        }
        tree
    };
    // Claim 1 + n: n choices; each round makes the first of them.
    let claims = |depth: usize| {
        let round = vec![Choose, unfold(), Take, Assume(1)];
        let mut situations = vec![claim(at(0), &round), from(1, tree(0, vec![]), round)];
        for n in 1..=depth {
            let rules = vec![Choose, Take, Assume(n as u32)];
            situations.push(from(1, tree(n, vec![]), rules));
        }
        // x is done over all of them.
        let rules = vec![Choose, Take, Assume(1 + depth as u32)];
        situations.push(Situation { ranks: vec![(a, 1)], ..from(0, tree(depth, vec![x]), rules) });
        situations
    };
    let prove = |situations| self::prove(machine, machine, situations);
    assert_eq!(prove(claims(DEEPEST)), Ok(()));
    assert_eq!(prove(claims(DEEPEST + 1)), Err((DEEPEST + 2, 3, Fault::TooDeep)));
    // What is behind the last of them is not unfolded any more.
    let unfolded = |depth: usize| {
        let mut situations = claims(DEEPEST);
        situations.push(from(1, tree(depth, vec![]), vec![Unfold(vec![0; depth])]));
        prove(situations).map_err(|(_, rule, fault)| (rule, fault))
    };
    assert_eq!(unfolded(DEEPEST - 1), Err((1, Fault::OpenGoal)));
    assert_eq!(unfolded(DEEPEST), Err((0, Fault::TooDeep)));
}

#[test]
fn a_choice_that_stays_open_for_ever_has_no_ranks() {
    // b is told neither l nor r.
    let (sub, sup) = ("a: 0 c!x 0", "a: 0 b!l 1, 0 b!r 2, 1 c!x 1, 2 c!x 2");
    let alternative = |index| {
        let tree = Tree { spine: vec![], tail: at(index + 1) };
        (TransitionId::from_index(index), tree)
    };
    let open = Tail::Choice(vec![alternative(0), alternative(1)]);
    let round = [Unfold(vec![0]), Unfold(vec![1]), Take, Assume(1)];
    let first = [&[Choose, Unfold(vec![])], &round[..]].concat();
    let again = [&[Choose], &round[..]].concat();
    for rank in [0, 1, u32::MAX] {
        let mut situations = vec![claim(at(0), &first), claim(open.clone(), &again)];
        situations[1].ranks = vec![(TransitionId::from_index(0), rank)];
        assert_eq!(prove(sub, sup, situations), Err((1, 4, Fault::Rank)));
    }
}

#[test]
fn what_stays_pending_for_ever_has_no_ranks() {
    // PPoPP'22, App. B.2: q's message is never taken. With any ranks.
    let (sub, sup) = ("a: 0 p?l 0", "a: 0 q?m 1, 1 p?l 1");
    let q = TransitionId::from_index(0);
    let situation = |spine: Vec<TransitionId>, state, rules, rank| Situation {
        ranks: vec![(q, rank)],
        ..from(0, Tree { spine, tail: at(state) }, rules)
    };
    for ranks in [(0, 0), (1, 0), (7, 3), (0, 1), (u32::MAX, u32::MAX)] {
        let first = vec![unfold(), unfold(), Take, Assume(1)];
        let again = vec![unfold(), Take, Assume(1)];
        let situations =
            vec![situation(vec![], 0, first, ranks.0), situation(vec![q], 1, again, ranks.1)];
        assert_eq!(prove(sub, sup, situations), Err((1, 2, Fault::Rank)));
    }
}

#[test]
fn ranks_count() {
    // q?m is put off for a round, in each of which p chooses, and then done.
    let sub = "a: 0 p?l 1, 0 p?k 1, 1 p?l 2, 1 p?k 2, 2 q?m 0, 2 q?n 0";
    let sup = "a: 0 q?m 1, 0 q?n 1, 1 p?l 2, 1 p?k 2, 2 p?l 0, 2 p?k 0";
    let (sub, sup, certificate) = of(sub, sup);
    let ranked: Vec<usize> = (0..certificate.situations.len())
        .filter(|&index| !certificate.situations[index].ranks.is_empty())
        .collect();
    assert!(!ranked.is_empty());
    let mut lower = 0;
    for index in ranked {
        for rank in 0..certificate.situations[index].ranks.len() {
            let mut changed = certificate.clone();
            changed.situations[index].ranks[rank].1 = 0;
            let fault = proves(&changed, &sub, &sup).map_err(|i| i.fault);
            assert_eq!(fault, Err(Fault::Rank), "{changed:?}");
            lower += 1;
            // All ranks of one kind may be raised by the same.
            let mut changed = certificate.clone();
            for (_, rank) in changed.situations.iter_mut().flat_map(|s| &mut s.ranks) {
                *rank += 5;
            }
            assert_eq!(proves(&changed, &sub, &sup), Ok(()));
        }
    }
    assert!(lower > 0);
}

fn tamper(certificate: &mut Derivation, sub: &Fsm, sup: &Fsm, rng: &mut Rng) {
    let count = certificate.situations.len();
    if count == 0 {
        return;
    }
    let any_transition =
        |rng: &mut Rng| TransitionId::from_index(rng.usize(..sup.transition_count().max(1)));
    let other = rng.usize(..count) as u32;
    let index = rng.usize(..count);
    let situation = &mut certificate.situations[index];
    let at = rng.usize(..situation.rules.len().max(1));
    let path = (0..rng.usize(..3)).map(|_| rng.usize(..2) as u32).collect();
    let rule = match rng.usize(..6) {
        0 => End,
        1 => Choose,
        2 => Unfold(path),
        3 => Drop(path),
        4 => Take,
        _ => Assume(other),
    };
    match rng.usize(..12) {
        0 => {
            certificate.situations.remove(index);
        }
        1 => situation.state = StateId::from_index(rng.usize(..sub.len())),
        2 => {
            if let Some(last) = situation.rules.last_mut() {
                *last = Assume(other);
            }
        }
        3 => {
            if let Some(old) = situation.rules.get_mut(at) {
                *old = rule;
            }
        }
        4 => situation.rules.insert(at, rule),
        5 if at < situation.rules.len() => {
            situation.rules.remove(at);
        }
        6 if !situation.tree.spine.is_empty() => {
            situation.tree.spine.remove(rng.usize(..situation.tree.spine.len()));
        }
        7 => situation.tree.spine.push(any_transition(rng)),
        8 => situation.tree.tail = Tail::State(StateId::from_index(rng.usize(..sup.len()))),
        9 => {
            for (_, rank) in &mut situation.ranks {
                *rank = (*rank + rng.usize(..3) as u32).saturating_sub(1);
            }
        }
        10 => situation.ranks.push((any_transition(rng), rng.usize(..4) as u32)),
        _ => {
            let assumed = situation.rules.iter_mut().find_map(|rule| match rule {
                Assume(to) => Some(to),
                _ => None,
            });
            if let Some(to) = assumed {
                *to = other;
            }
        }
    }
}

/// Certificates of pairs that hold, as they are and changed, for pairs nearby that do not hold:
/// never valid. So an accepted certificate that was changed is still a proof.
#[test]
fn no_certificate_proves_what_does_not_hold() {
    let mut rng = Rng::with_seed(5);
    let limits = Limits::default().steps(50_000);
    let tamper =
        |certificate: &mut Certificate, sub: &Fsm, sup: &Fsm, rng: &mut Rng| match certificate {
            Certificate::Derivation(derivation) => tamper(derivation, sub, sup, rng),
            Certificate::Invariant(invariant) => invariant::tamper(invariant, sub, sup, rng),
            Certificate::Fair(_) | Certificate::Steps(_) => unreachable!("subtyping in every run"),
        };
    // Of derivations and of invariants.
    let mut figures = [[0; 3]; 2];
    for Pair { sub, sup, .. } in pairs() {
        let Verdict::Safe(proof) = subtype::check(&sub, &sup, &limits).unwrap() else {
            continue;
        };
        let certificate = proof.certificate();
        let is_invariant = matches!(certificate, Certificate::Invariant(_));
        let [wrong, refused, unharmed] = &mut figures[usize::from(is_invariant)];
        // The pair itself, tampered with.
        for _ in seeds(100) {
            let mut changed = certificate.clone();
            tamper(&mut changed, &sub, &sup, &mut rng);
            match certificate::check(&changed, &sub, &sup) {
                Ok(()) => *unharmed += usize::from(changed != certificate),
                Err(_) => *refused += 1,
            }
        }
        // Pairs that do not hold.
        for _ in seeds(if is_invariant { 100 } else { 40 }) {
            let (mut bad_sub, mut bad_sup) = (sub.clone(), sup.clone());
            let side = if rng.bool() { &mut bad_sub } else { &mut bad_sup };
            let Some(mutated) = mutate(side, Mutation::any(&mut rng), &mut rng) else {
                continue;
            };
            *side = mutated;
            let verdict = subtype::check(&bad_sub, &bad_sup, &limits).unwrap();
            if verdict.refusal().is_none() {
                continue;
            }
            *wrong += 1;
            for round in 0..20 {
                let mut changed = certificate.clone();
                for _ in 0..round % 4 {
                    tamper(&mut changed, &bad_sub, &bad_sup, &mut rng);
                }
                let valid = certificate::check(&changed, &bad_sub, &bad_sup);
                assert!(valid.is_err(), "{bad_sub:?}\n{bad_sup:?}\n{changed:?}");
            }
        }
    }
    println!("[pairs that do not hold, tampered refused, still proofs]: {figures:?}");
    for [wrong, refused, unharmed] in figures {
        assert!(wrong > 200 && refused > 3 * unharmed, "{figures:?}");
    }
}
