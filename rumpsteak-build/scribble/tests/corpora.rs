//! The test suite of Scribble-Java 0.5, as far as it is in the corpora.
//!
//! A file that we accept and Scribble-Java refuses must be in [`ACCEPTED`] with the reason. The
//! projections of all accepted protocols are explored as systems.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rumpsteak_fsm::system::{System, explore, live_in_every_run};
use rumpsteak_fsm::{Limits as Search, Verdict};
use rumpsteak_scribble::{Diagnostic, Limits, Modules};

/// Refused by Scribble-Java and accepted here, with the reason.
const ACCEPTED: &[(&str, &str)] = &[
    (
        "bad/efsm/grecursion/unfair/Test01.scr",
        "A decides at X and at Y, one right after the other: for us that is one choice, offered in each round",
    ),
    (
        "bad/efsm/grecursion/unfair/Test11b.scr",
        "it goes wrong only if a choice is never made otherwise, and choices are fair here",
    ),
    (
        "bad/liveness/roleprog/unfair/Test02.scr",
        "it goes wrong only if a choice is never made otherwise, and choices are fair here",
    ),
    (
        "bad/liveness/roleprog/unfair/Test03a.scr",
        "it goes wrong only if a choice is never made otherwise, and choices are fair here",
    ),
    (
        "bad/liveness/roleprog/unfair/Test03b.scr",
        "it goes wrong only if a choice is never made otherwise, and choices are fair here",
    ),
    (
        "bad/liveness/roleprog/unfair/Test04b.scr",
        "it goes wrong only if a choice is never made otherwise, and choices are fair here",
    ),
    (
        "bad/liveness/roleprog/unfair/Test05.scr",
        "it goes wrong only if a choice is never made otherwise, and choices are fair here",
    ),
    (
        "bad/reach/globals/gchoice/Test01.scr",
        "an empty branch is told by the message that follows it",
    ),
    (
        "bad/reach/globals/grecursion/Recursion17e.scr",
        "`4` is reached through the other branch, and `3` behind it",
    ),
    (
        "bad/safety/stuckmsg/fourparty/Test01.scr",
        "equal beginnings are one choice, which C makes after them",
    ),
    (
        "bad/safety/stuckmsg/fourparty/Test02a.scr",
        "the choice after the equal beginning is D's; the others repeat beside it",
    ),
    ("bad/safety/stuckmsg/fourparty/Test02b.scr", "the choice after the equal beginning is B's"),
    ("bad/safety/stuckmsg/threeparty/Test02.scr", "A chooses after the equal beginning"),
    ("bad/safety/stuckmsg/twoparty/Test01b.scr", "A chooses after the equal beginning"),
    ("bad/safety/stuckmsg/twoparty/Test04.scr", "the choice after the equal beginning is B's"),
    ("bad/safety/waitfor/threeparty/Test04.scr", "A chooses after the equal beginning"),
    ("bad/syntax/consistentchoicesubj/Test07a.scr", "C is told by A or by B, and can tell which"),
    ("bad/syntax/consistentchoicesubj/Test07b.scr", "C is told by A or by B, and can tell which"),
    ("bad/syntax/disamb/globals/gprotocoldecl/GProtocolDecl01.scr", "a role may be unused"),
    ("bad/syntax/disamb/globals/gprotocoldecl/GProtocolDecl04.scr", "a role may be unused"),
    (
        "bad/wfchoice/enabling/threeparty/Test03b.scr",
        "A may choose again without having received anything",
    ),
    (
        "bad/wfchoice/enabling/twoparty/Test01b.scr",
        "C may send again without having received anything",
    ),
    ("bad/wfchoice/gdo/params/Test02.scr", "the choice after the equal beginning is B's"),
];

/// Accepted by Scribble-Java and refused here, with the code and the reason.
const REFUSED: &[(&str, &str, &str)] = &[];

struct Outcome {
    errors: Vec<Diagnostic>,
    /// True if every system was explored completely.
    exhaustive: bool,
    /// True if some run of a protocol neglects a role.
    neglects: bool,
}

fn run(root: &Path, file: &str) -> Outcome {
    let source = fs::read_to_string(root.join(file)).unwrap();
    // Each demo has its own import root.
    let imports: PathBuf = match file.split_once("/src/") {
        Some((demo, _)) if file.starts_with("demos/") => root.join(demo).join("src"),
        _ => root.to_owned(),
    };
    let (modules, mut errors) = Modules::load(&source, |name| {
        fs::read_to_string(imports.join(name.replace('.', "/") + ".scr")).ok()
    });
    let checked = modules.check(&Limits::default());
    errors.extend(checked.diagnostics);
    let (mut exhaustive, mut neglects) = (true, false);
    for protocol in &checked.protocols {
        let projections: Result<Vec<_>, _> =
            protocol.roles().iter().map(|role| protocol.project(role)).collect();
        match projections {
            Ok(projections) => {
                let machines = projections.into_iter().map(|found| found.fsm).collect();
                let system = System::new(machines).unwrap();
                let search = Search::default().configurations(20_000);
                let found = explore(&system, &search);
                let unsafe_run = matches!(found.verdict, Verdict::Unsafe(_));
                assert!(!unsafe_run, "{file}, {}: {:?}", protocol.name(), found.verdict);
                assert_eq!(found.starvation, None, "{file}, {}", protocol.name());
                exhaustive &= found.coverage.exhaustive;
                let live = live_in_every_run(&system, || found.clone(), &search);
                neglects |= !live.neglected.is_empty();
            }
            Err(found) => errors.extend(found),
        }
    }
    Outcome { errors, exhaustive, neglects }
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn scribble_java_agrees_or_the_reason_is_known() {
    let root = rumpsteak_oracle::corpus("scribble");
    let table = fs::read_to_string(root.join("expected.csv")).unwrap();
    let mut counts: BTreeMap<(&str, &str, bool), usize> = BTreeMap::new();
    let mut surprises = Vec::new();
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    let (mut bounded, mut neglecting) = (0, Vec::new());
    for line in table.lines().skip(1) {
        let mut fields = line.splitn(4, ',');
        let [file, group, verdict, reason] = [(); 4].map(|()| fields.next().unwrap());
        let outcome = run(&root, file);
        let ok = !outcome.errors.iter().any(|found| found.is_error);
        // Scribble-Java refuses protocols that require fair choices, and so may we.
        if ok && outcome.neglects {
            neglecting.push(file);
        }
        bounded += usize::from(!outcome.exhaustive);
        *counts.entry((group, verdict, ok)).or_default() += 1;
        match (verdict, ok) {
            ("reject", true) if ACCEPTED.iter().any(|known| known.0 == file) => accepted.push(file),
            ("accept", false) => {
                let code = outcome.errors[0].code.as_str();
                if REFUSED.iter().any(|known| (known.0, known.1) == (file, code)) {
                    refused.push(file);
                } else {
                    surprises.push(format!("{file}: {:?}", outcome.errors));
                }
            }
            ("reject", true) => surprises.push(format!("{file}: accepted, expected {reason}")),
            _ => {}
        }
    }
    println!("{bounded} files have systems with unbounded queues, explored up to a bound");
    for ((group, verdict, ok), count) in &counts {
        let ours = if *ok { "accept" } else { "reject" };
        println!("{group}: expected {verdict}, found {ours}: {count}");
    }
    // Scribble-Java refuses the last one for another reason.
    let is_unfair =
        |file: &&str| file.contains("/unfair/") || *file == "bad/reach/globals/gchoice/Test01.scr";
    let unfair = ACCEPTED.iter().map(|known| known.0).filter(is_unfair);
    assert_eq!(neglecting, unfair.collect::<Vec<_>>());
    assert_eq!(surprises, Vec::<String>::new());
    assert_eq!(accepted.len(), ACCEPTED.len(), "no longer accepted, only {accepted:?}");
    assert_eq!(refused.len(), REFUSED.len(), "no longer refused, only {refused:?}");
}
