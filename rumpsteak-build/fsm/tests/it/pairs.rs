//! Subtyping, by cases.
//!
//! Each file in `cases` has prose and, in ```` ```pairs ```` fences, pairs of machines with
//! the answer:
//!
//! ```text
//! sub a: 0 c!x 1, 1 b?l 2            the subtype, as transitions or as a local type
//! sup a: b?l; c!x; end               the supertype
//! limit anticipation 5               a setting of `Limits`; the others are the defaults
//! steps 42                           as many steps decide it, and one fewer does not
//! subtype, at most 1 pending         the answer
//! ```
//!
//! With `UPDATE_EXPECT=1` the answers are rewritten, to be read in the diff.

use std::fs;

use crate::common::pairs::{DOCUMENTS, answer, answered, pairs, parse, path};
use expect_test::expect_file;
use rumpsteak_fsm::certificate::{self, Certificate};
use rumpsteak_fsm::verify::certified;
use rumpsteak_fsm::{Limit, Limits, Verdict};
use rumpsteak_oracle::paper::{self, Answer};

#[test]
fn each_pair_has_its_answer() {
    for name in DOCUMENTS {
        let document = fs::read_to_string(path(name)).unwrap();
        assert!(parse(&document).len() > 20, "{name}");
        expect_file![path(name)].assert_eq(&answered(&document, answer));
    }
}

/// A certificate is valid for its pair, and for no pair that is refused.
#[test]
fn certificates_prove_only_what_holds() {
    let pairs = pairs();
    let mut certificates = vec![];
    for pair in &pairs {
        if let Verdict::Safe(proof) = certified(&pair.sub, &pair.sup, &pair.limits).unwrap() {
            let certificate = proof.certificate();
            let derived = matches!(certificate, Certificate::Derivation(_));
            assert_eq!(derived, proof.anticipation.is_some(), "{}", pair.source);
            certificates.push(certificate);
        }
    }
    for pair in &pairs {
        if pair.check(&pair.limits).refusal().is_none() {
            continue;
        }
        for certificate in &certificates {
            let valid = certificate::check(certificate, &pair.sub, &pair.sup);
            assert!(valid.is_err(), "{}\n{certificate:?}", pair.source);
        }
    }
}

/// No other way to search contradicts the answer: one engine alone, other limits, and the paper's
/// algorithm.
#[test]
fn the_engines_agree() {
    for pair in pairs() {
        let verdict = pair.check(&Limits::default());
        let small = Limits::default().steps(20_000);
        for limits in [
            pair.limits,
            // The search by sets of words alone, and the search word by word alone.
            small.anticipation(0),
            small.widening(0),
            small.branching(0),
        ] {
            let other = pair.check(&limits);
            let contradict = verdict.is_safe() && other.refusal().is_some()
                || verdict.refusal().is_some() && other.is_safe();
            assert!(!contradict, "{}\n{limits:?}\n{other:?}", pair.source);
        }
        let derived = paper::subtype(&pair.sub, &pair.sup, 3, 5_000) == Answer::Subtype;
        assert!(!derived || verdict.is_safe(), "{}", pair.source);
    }
}

/// A limit is reached where it says, and not one action before.
#[test]
fn limits_are_exact() {
    for pair in pairs() {
        let exact = pair.limits.widening(0);
        if let Verdict::Safe(proof) = pair.check(&pair.limits)
            && let Some(most @ 1..) = proof.anticipation
        {
            let with = |most| pair.check(&exact.anticipation(most));
            assert!(with(most).is_safe(), "{}", pair.source);
            let limited = Verdict::Undecided(Limit::Anticipation(most - 1));
            assert_eq!(with(most - 1), limited, "{}", pair.source);
        }
        if let Some(steps) = pair.steps {
            let with = |steps| pair.check(&exact.steps(steps));
            let limited = Verdict::Undecided(Limit::Steps(steps - 1));
            assert_eq!(with(steps - 1), limited, "{}", pair.source);
            assert!(!matches!(with(steps), Verdict::Undecided(_)), "{}", pair.source);
        }
    }
}
