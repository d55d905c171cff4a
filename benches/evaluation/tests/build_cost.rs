//! What a build costs: the scratch packages are what they are said to be.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::path::Path;

use rumpsteak_benches::programs::Program;
use rumpsteak_evaluation::build_cost::{Package, figures};
use rumpsteak_evaluation::{Error, Mode, Unit};

#[test]
fn the_quick_mode_builds_nothing() {
    for figure in figures() {
        assert_eq!((figure.points)(Mode::Quick), [0_u64; 0], "{}", figure.name);
    }
}

#[test]
fn each_series_has_a_case_at_each_point() {
    let units = [
        ("build-dependency-time", Unit::CpuSeconds),
        ("build-dependency-crates", Unit::Count),
        ("build-protocols", Unit::Seconds),
        ("build-actions", Unit::CpuSeconds),
    ];
    for (figure, (name, unit)) in figures().iter().zip(units) {
        assert_eq!(figure.name, name);
        let series: Vec<_> = figure.series.iter().map(|series| series.name).collect();
        for x in (figure.points)(Mode::Full) {
            let cases = (figure.cases)(x, Mode::Full).unwrap();
            let measured: Vec<_> = cases.iter().map(|case| case.series).collect();
            let grows_too_fast = |series: &&str| match *series {
                "rumpsteak 0.1" => name == "build-actions" && x > 60,
                "ferrite-session" => name == "build-actions" && x > 20,
                _ => false,
            };
            let mut series = series.clone();
            series.retain(|series| !grows_too_fast(series));
            assert_eq!(measured, series, "{name} {x}");
            assert!(cases.iter().all(|case| case.unit == unit), "{name} {x}");
        }
    }
}

/// All of the tree is counted: our own crates, and what they need.
#[test]
fn the_crates_of_the_build_script_are_counted() {
    let package = Package::with_build_dependency("rumpsteak-build", None).unwrap();
    let crates = package.crates().unwrap();
    assert!((20..=60).contains(&crates), "{crates}");
}

/// The builds that are timed verify: a session that says something else than its protocol fails
/// them.
#[test]
fn the_sessions_of_the_packages_are_verified() {
    let mut package = Package::with_protocols(2).unwrap();
    // What tests of other packages have compiled, without debug information, is not compiled again.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    package.share(target.join("tests/trybuild"));
    let profile = "[profile.dev]\ndebug = \"none\"\n";
    package.append("Cargo.toml", profile).unwrap();
    package.build(false).unwrap();
    package.append("src/p1.rs", "// Nothing.\n").unwrap();
    package.build(false).unwrap();
    let wrong = "#[rumpsteak::protocol(DoubleBuffering1)]\nmod wrong {\n    #[session(T)]\n    type Wrong = Receive<K, Ready, End>;\n}\n";
    package.append("src/p1.rs", wrong).unwrap();
    match package.build(false) {
        Err(Error::Wrong(why)) => assert!(why.contains("src/p1.rs"), "{why}"),
        other => panic!("{other:?}"),
    }
    // The dependencies are there for the programs of many actions as well.
    for program in
        [Program::Types, Program::Session, Program::Generated, Program::Bare, Program::Linear]
    {
        package.become_program(program, 3).unwrap();
        package.append("Cargo.toml", profile).unwrap();
        package.build(false).unwrap_or_else(|error| panic!("{program:?}: {error}"));
    }
    package.become_program(Program::Session, 2).unwrap();
    package.append("Cargo.toml", profile).unwrap();
    let wrong = "#[rumpsteak::protocol(Many)]\nmod wrong { #[session(A)] type Wrong = End; }\n";
    package.append("src/main.rs", wrong).unwrap();
    match package.build(false) {
        Err(Error::Wrong(why)) => assert!(why.contains("Wrong = End"), "{why}"),
        other => panic!("{other:?}"),
    }
}
