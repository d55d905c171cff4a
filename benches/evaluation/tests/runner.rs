//! The command line, and that what is measured computes the right output.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use rumpsteak_evaluation::{
    Case, Environment, Error, Figure, Mode, Of, Sample, Series, Store, Unit, XAxis, YAxis, command,
    figures, runner,
};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn an_unknown_figure_is_refused_with_those_that_there_are() {
    let error = command::run(&words("run --quick fig6-steaming")).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("there is no figure `fig6-steaming`; there are fig6-streaming, fig6-double-buffering, fig6-double-buffering-work, "),
        "{text}"
    );
}

#[test]
fn other_command_lines_are_refused_with_the_usage() {
    for (line, expected) in [
        ("run --fast", "there is no option `--fast`"),
        ("run --folder", "--folder needs a path"),
        ("report --again", "`report` measures nothing"),
        ("list all", "cannot `list all`"),
        ("rin", "cannot `rin`"),
        ("sample fig6-streaming", "`sample` is for this program alone"),
    ] {
        let error = command::run(&words(line)).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{line}: {error}");
        let text = error.to_string();
        assert!(text.starts_with(expected), "{line}: {text}");
        assert!(text.contains("usage:"), "{line}: {text}");
    }
    assert!(matches!(command::run(&[]), Err(Error::Usage(_))));
}

#[test]
fn a_plan_has_the_named_figures_in_the_order_of_the_report() {
    let plan =
        command::plan(&words("--folder here coordination-fig4 --again fig6-streaming")).unwrap();
    let names = plan.figures.iter().map(|figure| figure.name);
    assert_eq!(names.collect::<Vec<_>>(), ["fig6-streaming", "coordination-fig4"]);
    assert_eq!((plan.mode, plan.again), (Mode::Full, true));
    assert_eq!(plan.data(), PathBuf::from("here/data"));
}

#[test]
fn each_case_belongs_to_a_series_of_its_figure_and_names_are_used_once() {
    let figures = figures::all();
    for (index, figure) in figures.iter().enumerate() {
        let later = &figures[index + 1..];
        assert!(later.iter().all(|other| other.name != figure.name), "{}", figure.name);
        for mode in [Mode::Quick, Mode::Full] {
            for x in (figure.points)(mode) {
                let cases = (figure.cases)(x, mode).unwrap();
                assert!(!cases.is_empty(), "{} {x}", figure.name);
                for case in cases {
                    assert_eq!((case.figure, case.x), (figure.name, x));
                    assert!(
                        figure.series(case.series).is_some(),
                        "{} {}",
                        figure.name,
                        case.series
                    );
                }
            }
        }
    }
}

/// Those of Fig. 6, of COORDINATION'21 and of channels here; the others have tests of their own.
#[test]
fn each_series_computes_the_right_output() {
    let mut measured = 0;
    for figure in figures::all() {
        if !["fig6", "coordination", "channels"].iter().any(|of| figure.name.starts_with(of)) {
            continue;
        }
        for x in (figure.points)(Mode::Quick) {
            for mut case in (figure.cases)(x, Mode::Quick).unwrap() {
                let sample = (case.measure)();
                let label = format!("{} {} {x}", figure.name, case.series);
                match sample {
                    Ok(Sample::Value { value, .. }) => assert!(value > 0.0, "{label}"),
                    other => panic!("{label}: {other:?}"),
                }
                measured += 1;
            }
        }
    }
    assert_eq!(measured, 3 * (19 + 17) + 2 * 4 + 4 * 20 + 3 * 3 + 3 * 5 * 2 + 4 + 8 + 2 * (10 + 5));
}

/// A figure whose only case counts how often it is measured.
fn counting(points: fn(Mode) -> Vec<u64>) -> Figure {
    Figure {
        name: "counting",
        title: "Counting",
        about: "",
        x: XAxis { label: "x", log: false, names: &[] },
        y: YAxis { label: "y", log: false, scale: 1.0 },
        series: vec![Series { name: "x", of: Of::Ours, about: "" }],
        points,
        cases: |x, _| {
            let case = Case::new("counting", "x", x, Unit::Count, move || Ok(Sample::of(x as f64)));
            Ok(vec![case.samples(2)])
        },
        notes: "",
    }
}

#[test]
fn what_is_stored_is_skipped_unless_it_is_wanted_again() {
    let mut plan = runner::Plan {
        figures: vec![counting(|_| vec![1])],
        mode: Mode::Full,
        again: false,
        folder: folder("skipped"),
    };
    let lines = |plan: &runner::Plan| {
        let file = plan.data().join("counting.jsonl");
        fs::read_to_string(file).unwrap().lines().count()
    };
    runner::measure(&plan).unwrap();
    assert_eq!(lines(&plan), 1);
    // The run was interrupted: the second x is missing.
    plan.figures = vec![counting(|_| vec![1, 2])];
    runner::measure(&plan).unwrap();
    assert_eq!(lines(&plan), 2);
    runner::measure(&plan).unwrap();
    assert_eq!(lines(&plan), 2);
    plan.again = true;
    runner::measure(&plan).unwrap();
    assert_eq!(lines(&plan), 4);
    plan.again = false;
    plan.mode = Mode::Quick;
    runner::measure(&plan).unwrap();
    assert_eq!(lines(&plan), 6);
    let store = Store::open(&plan.data()).unwrap();
    let row = store.row("counting", "x", 2, Mode::Full).unwrap();
    assert_eq!(row.samples, [2.0, 2.0]);
    assert_eq!(row.environment, Environment::here().id());
}

#[test]
fn samples_are_taken_in_turns_and_a_case_that_timed_out_leaves() {
    let order = Rc::new(Cell::new(String::new()));
    let note = |name: &'static str| {
        let order = order.clone();
        move || {
            let text = order.take() + name;
            order.set(text);
        }
    };
    let (note_a, note_b) = (note("a"), note("b"));
    let a = Case::new("f", "a", 1, Unit::Count, move || {
        note_a();
        Ok(Sample::of(1.0))
    });
    let b = Case::new("f", "b", 1, Unit::Count, move || {
        note_b();
        Ok(Sample::TimedOut(Duration::from_secs(3)))
    });
    let rows = runner::rounds(vec![a.samples(3), b], Mode::Quick, &Environment::here()).unwrap();
    assert_eq!(order.take(), "abaa");
    assert_eq!((rows[0].samples.len(), rows[0].timed_out), (3, None));
    assert_eq!((rows[1].samples.len(), rows[1].timed_out), (0, Some(3.0)));
}

#[test]
fn a_wrong_output_stops_with_the_name_of_the_case() {
    let case = Case::timed("f", "s", 7, Mode::Quick, || Err(Error::wrong("5 instead of 4")));
    let error = runner::rounds(vec![case], Mode::Quick, &Environment::here()).unwrap_err();
    assert_eq!(error.to_string(), "wrong output: f, s, x = 7: 5 instead of 4");
}
