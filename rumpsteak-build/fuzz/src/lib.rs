//! Fuzzing of everything that reads text, starting from examples: nothing panics, nothing takes
//! long, and printed text can be read again.
//!
//! Each target is a test. `cargo test -p rumpsteak-fuzz` replays the inputs in `__fuzz__`, a folder
//! for each target: `corpus` has examples, `crashes` earlier failures. `cargo bolero`
//! lets libFuzzer look for more, see CONTRIBUTING.md.

#![cfg(test)]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bolero::check;
use proc_macro2::TokenStream;
use rumpsteak_front::module::ModuleKind;
use rumpsteak_front::{Module, cut};
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Fsm, Limits, System, Verdict, dot, kmc, subtype, system};
use rumpsteak_oracle::equal;
use rumpsteak_scribble::Modules;

/// The time limit of one input, unoptimised: far more than any input takes on a busy machine.
const TIME: Duration = Duration::from_secs(5);

/// The largest input, in bytes.
const BYTES: usize = 1 << 14;

/// Runs a target on the fuzzer's inputs, as text.
macro_rules! each_text {
    ($test:expr) => {
        check!().with_max_len(BYTES).with_iterations(100).for_each(|bytes: &[u8]| {
            let Ok(source) = std::str::from_utf8(bytes) else { return };
            let start = Instant::now();
            $test(source);
            assert!(start.elapsed() < TIME, "{:?}", start.elapsed());
        })
    };
}

fn limits() -> Limits {
    Limits::default().anticipation(50).configurations(500).queue(4).steps(2_000)
}

/// Every mistake has a place in the text, and the roles of a protocol without mistakes are safe
/// together. The text imports itself.
#[test]
fn protocols() {
    each_text!(|source: &str| {
        let few = 2_000;
        let most = rumpsteak_scribble::Limits {
            global_states: few,
            local_states: few,
            projection_steps: 50 * few,
            verifier: limits(),
            ..rumpsteak_scribble::Limits::default()
        };
        let (modules, mut mistakes) = Modules::load(source, |_| Some(source.to_owned()));
        let checked = modules.check(&most);
        mistakes.extend(checked.diagnostics);
        for protocol in &checked.protocols {
            match protocol.project_all() {
                Ok(projections) => {
                    let machines = projections.into_iter().map(|projection| projection.fsm);
                    let system = System::new(machines.collect()).unwrap();
                    let explored = system::explore(&system, &limits());
                    assert_eq!(explored.verdict.refusal(), None);
                }
                Err(found) => mistakes.extend(found),
            }
        }
        for mistake in mistakes {
            let secondary = mistake.secondary.iter().map(|(span, _)| span);
            for span in secondary.chain([&mistake.primary]) {
                assert!(source.get(span.range()).is_some(), "{mistake:?}");
            }
        }
    });
}

/// Printed text is read again, and is the same.
fn round_trip(form: Form, machines: &[Fsm]) {
    let Ok(printed) = text::print(form, machines) else { return };
    let again = text::parse_named(&printed, form).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(again.len(), machines.len(), "{printed}");
    for (again, machine) in again.iter().zip(machines) {
        let is_directed = machine.check_directed().is_ok();
        assert!(!is_directed || equal(&again.fsm, machine), "{machine:?}\n{printed}");
    }
}

fn reads(form: Form, source: &str) {
    match text::parse_named(source, form) {
        Ok(machines) => {
            let machines: Vec<Fsm> = machines.into_iter().map(|named| named.fsm).collect();
            round_trip(form, &machines);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[test]
fn graphs() {
    each_text!(|source: &str| reads(Form::Dot, source));
}

#[test]
fn local_types() {
    each_text!(|source: &str| {
        reads(Form::Local, source);
        reads(Form::Binary, source);
    });
}

#[test]
fn communicating_machines() {
    each_text!(|source: &str| reads(Form::Cfsm, source));
}

/// Machines as peers may send them, in any form. Each is its own subtype, and no judge accepts a
/// system that another refuses.
#[test]
fn machines_of_peers() {
    each_text!(|source: &str| {
        let Ok(machines) = text::parse(source) else { return };
        let machines: Vec<Fsm> = machines.into_iter().take(4).collect();
        for form in [Form::Cfsm, Form::Dot, Form::Local] {
            round_trip(form, &machines);
        }
        for machine in machines.iter().filter(|machine| machine.check_directed().is_ok()) {
            let verdict = subtype::check(machine, machine, &limits()).unwrap();
            assert_eq!(verdict.refusal(), None, "{}", dot::print(machine));
        }
        let Ok(system) = System::new(machines) else { return };
        let explored = system::explore(&system, &limits());
        let judged = kmc::check(&system, &limits());
        if let kmc::Verdict::Safe(_) = judged.verdict {
            assert_eq!((explored.verdict.refusal(), &explored.starvation), (None, &None));
        }
        if matches!(explored.verdict, Verdict::Safe(())) && explored.starvation.is_none() {
            let refuses = matches!(judged.verdict, kmc::Verdict::Unsafe(_));
            assert!(!refuses, "{:?}", judged.verdict);
        }
    });
}

/// The source of a package: its modules, its items, and the faults in them.
#[test]
fn rust_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/rust_sources");
    let folder = folder.join(std::process::id().to_string());
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"p\"\n").unwrap();
    let protocol = "global protocol P(role s, role k) {
        rec X { ping(i32) from s to k; choice at k { pong() from k to s; continue X; } or { stop() from k to s; } }
    }";
    fs::write(folder.join("p.scr"), protocol).unwrap();
    each_text!(|source: &str| {
        fs::write(folder.join("src/lib.rs"), source).unwrap();
        let configuration = rumpsteak_build::configure().protocols("p.scr");
        let mut of_build = rumpsteak_build::Limits::default();
        of_build.scribble.verifier = limits();
        let check = configuration.check(&folder, &of_build);
        for problem in &check.problems {
            assert!(source.get(problem.range.clone()).is_some(), "{problem:?}");
            assert!(!problem.render(false).is_empty());
        }
        let Ok(tokens) = source.parse::<TokenStream>() else { return };
        for (kind, arguments, item) in cut::modules(tokens.clone()) {
            let _ = Module::parse(kind, arguments, item);
        }
        for kind in [ModuleKind::ClosedSystem, ModuleKind::Protocol] {
            let _ = Module::parse(kind, tokens.clone(), tokens.clone());
        }
        let _ = rumpsteak_front::module::items(tokens);
    });
}
