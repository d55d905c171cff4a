//! The pairs of `cases`, and their answers as text.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rumpsteak_fsm::subtype::{self, Refusal};
use rumpsteak_fsm::{Fsm, Limits, StateId, TransitionId, Verdict, text};

pub(crate) struct Pair {
    pub(crate) sub: Fsm,
    pub(crate) sup: Fsm,
    pub(crate) limits: Limits,
    /// The number of steps that suffices, where the case states it.
    pub(crate) steps: Option<usize>,
    /// The answer that is expected.
    pub(crate) expected: String,
    /// The case as it is written.
    pub(crate) source: String,
}

impl Pair {
    pub(crate) fn check(&self, limits: &Limits) -> Verdict<subtype::Proof, Refusal> {
        subtype::check(&self.sub, &self.sup, limits).unwrap()
    }
}

pub(crate) fn pairs() -> Vec<Pair> {
    let documents = DOCUMENTS.iter().map(|name| fs::read_to_string(path(name)).unwrap());
    documents.flat_map(|text| parse(&text)).collect()
}

pub(crate) const DOCUMENTS: [&str; 2] = ["subtyping.md", "unbounded.md"];

pub(crate) fn path(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(document)
}

pub(crate) fn parse(document: &str) -> Vec<Pair> {
    let fences = document.split("```pairs\n").skip(1);
    let fences = fences.map(|fence| fence.split("```").next().unwrap());
    fences.flat_map(|fence| fence.split("\n\n")).map(pair).collect()
}

pub(crate) fn answered(document: &str, answer: impl Fn(&Pair) -> String) -> String {
    answers(document, "pairs", |case| {
        let pair = pair(case);
        let inputs = pair.source.strip_suffix(&pair.expected).unwrap();
        format!("{inputs}{}", answer(&pair))
    })
}

fn pair(source: &str) -> Pair {
    let source = source.trim();
    let mut pair = Pair {
        sub: super::machine("m:"),
        sup: super::machine("m:"),
        limits: Limits::default(),
        steps: None,
        expected: String::new(),
        source: source.to_owned(),
    };
    for line in source.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "sub" => pair.sub = machine(rest),
            "sup" => pair.sup = machine(rest),
            "steps" => pair.steps = Some(rest.parse().unwrap()),
            "limit" => pair.limits = limit(pair.limits, rest),
            _ => pair.expected = line.to_owned(),
        }
    }
    pair
}

pub(crate) fn limit(limits: Limits, setting: &str) -> Limits {
    let (name, value) = setting.split_once(' ').unwrap();
    let value = value.parse().unwrap();
    match name {
        "anticipation" => limits.anticipation(value),
        "branching" => limits.branching(value),
        "queue" => limits.queue(value),
        "steps" => limits.steps(value),
        "widening" => limits.widening(value),
        _ => panic!("no limit: {setting}"),
    }
}

/// A document with the answers to the cases in its fences of this name.
pub(crate) fn answers(document: &str, fence: &str, answer: impl Fn(&str) -> String) -> String {
    let blocks = document.split("```").map(|block| match block.strip_prefix(fence) {
        Some(cases) => {
            let cases: Vec<String> = cases.trim().split("\n\n").map(&answer).collect();
            format!("{fence}\n{}\n", cases.join("\n\n"))
        }
        None => block.to_owned(),
    });
    blocks.collect::<Vec<_>>().join("```")
}

/// A machine as a list of transitions or as a local type.
pub(crate) fn machine(source: &str) -> Fsm {
    let (_, body) = source.split_once(':').unwrap();
    match body.trim_start().bytes().next() {
        None | Some(b'0'..=b'9') => super::machine(source),
        Some(_) => text::parse(source).unwrap().remove(0),
    }
}

pub(crate) fn answer(pair: &Pair) -> String {
    match pair.check(&pair.limits) {
        Verdict::Safe(proof) => match proof.anticipation {
            Some(most) => format!("subtype, at most {most} pending"),
            None => "subtype, without a bound".to_owned(),
        },
        Verdict::Unsafe(refusal) => refused(&pair.sub, &pair.sup, &refusal),
        Verdict::Undecided(limit) => format!("undecided: {limit}"),
    }
}

/// `rule: sub / sup after path in cycle`. The path and the cycle are ways through the machine.
pub(crate) fn refused(sub: &Fsm, sup: &Fsm, refusal: &Refusal) -> String {
    let name = |fsm: &Fsm, id: Option<TransitionId>, state: StateId| match id {
        Some(id) => {
            assert_eq!(fsm.transition(id).source, state);
            fsm.transition(id).action.to_string()
        }
        None => format!("state {state}"),
    };
    let walk = |mut state: StateId, ids: &[TransitionId]| {
        for &id in ids {
            assert_eq!(sub.transition(id).source, state);
            state = sub.transition(id).target;
        }
        state
    };
    assert_eq!(walk(sub.initial(), &refusal.path), refusal.sub_state);
    assert_eq!(walk(refusal.sub_state, &refusal.cycle), refusal.sub_state);
    let mut text = format!(
        "{:?}: {} / {}",
        refusal.rule,
        name(sub, refusal.sub, refusal.sub_state),
        name(sup, refusal.sup, refusal.sup_state)
    );
    for (word, ids) in [("after", &refusal.path), ("in", &refusal.cycle)] {
        if !ids.is_empty() {
            write!(text, " {word}").unwrap();
        }
        for &id in ids {
            write!(text, " {}", sub.transition(id).action).unwrap();
        }
    }
    text
}
