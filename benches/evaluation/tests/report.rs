//! Statistics, the store, and the report made from it.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::fs;
use std::path::PathBuf;

use rumpsteak_evaluation::report::claims::{Verdict, claims};
use rumpsteak_evaluation::report::data::{Data, digits};
use rumpsteak_evaluation::report::{page, plot, render};
use rumpsteak_evaluation::{
    Environment, Error, Figure, Mode, Quartiles, Row, Store, Unit, figures,
};

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn environment() -> Environment {
    Environment {
        cpu: "a processor".to_owned(),
        cores: 2,
        memory: 8_000_000_000,
        os: "a system".to_owned(),
        rustc: "rustc 1.95.0".to_owned(),
        peers: "rumpsteak 0.1.0".to_owned(),
        sources: "0123456789abcdef".to_owned(),
    }
}

fn row(figure: &str, series: &str, x: u64, samples: &[f64]) -> Row {
    Row {
        figure: figure.to_owned(),
        series: series.to_owned(),
        x,
        mode: Mode::Full,
        unit: Unit::PerSecond,
        samples: samples.to_vec(),
        peak: None,
        timed_out: None,
        environment: environment().id(),
        date: "2026-01-02 03:04 UTC".to_owned(),
    }
}

fn store(name: &str, rows: Vec<Row>) -> (PathBuf, Store) {
    let folder = folder(name);
    let mut store = Store::open(&folder.join("data")).unwrap();
    store.add(&environment(), rows).unwrap();
    (folder, store)
}

#[test]
fn quartiles_are_interpolated() {
    let quartiles = Quartiles::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
    assert_eq!(quartiles, Quartiles { low: 1.75, median: 2.5, high: 3.25 });
    assert_eq!(quartiles.spread(), 0.6);
    let one = Quartiles::of(&[7.0]).unwrap();
    assert_eq!((one.low, one.median, one.high), (7.0, 7.0, 7.0));
    assert_eq!(Quartiles::of(&[]), None);
    assert_eq!(Quartiles::of(&[1.0, f64::NAN]), None);
}

#[test]
fn quartiles_overlap_if_they_have_a_value_in_common() {
    let of = |samples: &[f64]| Quartiles::of(samples).unwrap();
    let low = of(&[1.0, 2.0, 3.0]);
    assert!(low.overlaps(&of(&[2.0, 3.0, 4.0])));
    assert!(low.overlaps(&of(&[2.5, 2.5, 9.0])));
    assert!(!low.overlaps(&of(&[3.0, 4.0, 5.0])));
    assert!(!of(&[3.0, 4.0, 5.0]).overlaps(&low));
}

#[test]
fn three_digits_count() {
    let shown = [0.0, 1234.5, 123.45, 12.345, 1.2345, 0.012345, 1e-7, 1e12].map(digits);
    assert_eq!(shown, ["0", "1234", "123", "12.3", "1.23", "0.0123", "1.00e-7", "1.00e12"]);
}

#[test]
fn a_later_row_replaces_an_earlier_one_on_disk_too() {
    let first = row("fig6-streaming", "plain, join", 10, &[1.0]);
    let second = Row { samples: vec![2.0, 3.0], peak: Some(4096), ..first.clone() };
    let quick = Row { mode: Mode::Quick, ..first.clone() };
    let slow = Row { samples: vec![], timed_out: Some(10.0), x: 20, ..first.clone() };
    let rows = vec![first.clone(), quick.clone(), second.clone(), slow.clone()];
    let (folder, _) = store("replaces", rows);

    let read = Store::open(&folder.join("data")).unwrap();
    let stored = read.rows("fig6-streaming", Mode::Full).cloned();
    assert_eq!(stored.collect::<Vec<_>>(), [second, slow]);
    assert_eq!(read.row("fig6-streaming", "plain, join", 10, Mode::Quick), Some(&quick));
    assert_eq!(read.environment(&first.environment), Some(&environment()));

    let lines = || fs::read_to_string(folder.join("data/fig6-streaming.jsonl")).unwrap();
    assert_eq!(lines().lines().count(), 4);
    read.compact().unwrap();
    assert_eq!(lines().lines().count(), 3);
    let again = Store::open(&folder.join("data")).unwrap();
    assert_eq!(again.rows("fig6-streaming", Mode::Full).count(), 2);
}

#[test]
fn a_corrupt_line_is_named() {
    let good = row("fig6-streaming", "plain, join", 10, &[1.0]).to_json().to_string();
    let without = |name: &str| {
        let mut value: serde_json::Value = serde_json::from_str(&good).unwrap();
        value.as_object_mut().unwrap().remove(name);
        value.to_string()
    };
    let cases = [
        ("{".to_owned(), "EOF while parsing"),
        ("7".to_owned(), "`mode` is missing"),
        (without("samples"), "`samples` is missing"),
        (good.replace("[1.0]", "[\"1\"]"), "`samples` is not a list of numbers"),
        (good.replace("[1.0]", "[]"), "there are either samples or `timed_out`"),
        (good.replace("full", "fast"), "`mode` cannot be `fast`"),
        (good.replace("per second", "per hour"), "`unit` cannot be `per hour`"),
        (good.replace("\"x\":10", "\"x\":-1"), "`x` is not a whole number"),
    ];
    for (line, expected) in cases {
        let (folder, _) = store("corrupt", vec![row("fig6-streaming", "plain, join", 5, &[1.0])]);
        let file = folder.join("data/fig6-streaming.jsonl");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{text}{line}\n")).unwrap();
        let error = Store::open(&folder.join("data")).unwrap_err().to_string();
        let place = format!("{}:2: ", file.display());
        assert!(error.starts_with(&place), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_row_without_its_environment_is_refused() {
    let (folder, _) = store("environment", vec![row("fig6-streaming", "plain, join", 5, &[1.0])]);
    fs::remove_file(folder.join("data/environments.jsonl")).unwrap();
    let error = Store::open(&folder.join("data")).unwrap_err();
    assert!(
        matches!(&error, Error::Corrupt { why, .. } if why.contains("is not in environments.jsonl")),
        "{error}"
    );
}

#[test]
fn no_results_make_a_report_that_says_so() {
    let folder = folder("nothing");
    let page = fs::read_to_string(render(&folder).unwrap()).unwrap();
    assert!(page.contains("Not measured: fig6-streaming, "), "{page}");
    assert!(page.contains("| not measured |"), "{page}");
    assert!(page.contains("Nothing was measured."), "{page}");
    assert!(!folder.join("fig6-streaming.svg").exists());
}

/// The figure of streaming with these medians at 50: ours by `join`, optimised and plain, the one
/// of 0.1, and ferrite's.
fn streaming(name: &str, [optimised, plain, original, ferrite]: [f64; 4]) -> (PathBuf, Store) {
    let around = |median: f64| [0.99 * median, median, 1.01 * median];
    let at = |series, median| row("fig6-streaming", series, 50, &around(median));
    let rows = vec![
        at("optimised, join", optimised),
        at("plain, join", plain),
        at("rumpsteak 0.1, one task", original),
        at("ferrite-session, tokio 1", ferrite),
    ];
    store(name, rows)
}

fn verdict(store: &Store, figures: &[Figure], what: &str) -> (String, Verdict) {
    let claims = claims(&Data::new(store, figures));
    let claim = claims.iter().find(|claim| claim.what.contains(what)).unwrap();
    (claim.measured.clone(), claim.verdict)
}

#[test]
fn claims_pass_or_fall_short_by_the_results() {
    let figures = figures::all();
    let (_, store) = streaming("claims", [6e6, 5e6, 2e6, 1e6]);
    let of = |what| verdict(&store, &figures, what);
    assert_eq!(
        of("best of `rumpsteak` 0.1"),
        ("3.00× at 50 (`optimised, join`)".to_owned(), Verdict::Pass)
    );
    assert_eq!(
        of("best of `ferrite-session`"),
        ("6.00× at 50 (`optimised, join`)".to_owned(), Verdict::Short)
    );
    assert_eq!(of("best of `mpstthree`"), (String::new(), Verdict::Unmeasured));
    assert_eq!(
        of("`optimised, join` against `plain, join`"),
        ("1.20× at 50".to_owned(), Verdict::Short)
    );
}

#[test]
fn the_worst_x_that_counts_decides() {
    let figures = figures::all();
    let (_, mut store) = streaming("worst", [6e6, 5e6, 2e6, 1e6]);
    let at = |x, series, median: f64| row("fig6-streaming", series, x, &[median]);
    let best = "best of `rumpsteak` 0.1";
    let both = [("plain, join", 3e6), ("rumpsteak 0.1, one task", 2e6)];
    for (x, verdict_of_all) in [(10, Verdict::Pass), (60, Verdict::Short)] {
        let rows = both.map(|(series, median)| at(x, series, median));
        store.add(&environment(), rows.to_vec()).unwrap();
        let (measured, of_all) = verdict(&store, &figures, best);
        assert_eq!(of_all, verdict_of_all);
        if x == 10 {
            assert_eq!(measured, "3.00× at 50 (`optimised, join`), least 1.50× at 10");
        }
    }
}

#[test]
fn what_no_bare_program_does_is_out_of_reach() {
    let figures = figures::all();
    let (_, mut store) = streaming("bare", [6e6, 5e6, 2e6, 1e6]);
    let ahead = "`optimised, join` against `plain, join`";
    // It is compared with a bare program that is not ahead.
    for (bare, verdict) in [(6e6, Verdict::Short), (5.9e6, Verdict::Bare)] {
        let row = |series, value| row("fig6-streaming", series, 50, &[value]);
        let rows = vec![row("bare queues ahead, join", bare), row("bare queues, join", 4e6)];
        store.add(&environment(), rows).unwrap();
        let claims = claims(&Data::new(&store, &figures));
        let claim = claims.iter().find(|claim| claim.what.contains(ahead)).unwrap();
        assert_eq!(claim.verdict, verdict);
        let factor = digits(bare / 4e6);
        assert_eq!(claim.bare, format!("{factor}× at 50 (`bare queues ahead, join`)"));
    }
}

#[test]
fn what_was_not_measured_together_has_no_ratio() {
    let figures = figures::all();
    let (_, mut store) = streaming("together", [6e6, 5e6, 2e6, 1e6]);
    let later = Row {
        date: "2026-01-02 03:05 UTC".to_owned(),
        ..row("fig6-streaming", "rumpsteak 0.1, one task", 50, &[2e6])
    };
    store.add(&environment(), vec![later]).unwrap();
    assert_eq!(
        verdict(&store, &figures, "best of `rumpsteak` 0.1"),
        (String::new(), Verdict::Unmeasured)
    );
}

#[test]
fn the_page_says_where_a_peer_is_better_and_what_is_noise() {
    let figures = figures::all();
    let (folder, store) = streaming("page", [4e6, 4.01e6, 5e6, 1e6]);
    let data = Data::new(&store, &figures);
    let text = page::page(&data);
    assert!(
        text.contains("`rumpsteak 0.1, one task` is better than the best of ours: 1.25× at 50."),
        "{text}"
    );
    assert!(text.contains("| processor | a processor, 2 cores |"), "{text}");
    assert!(text.contains("| plain, join | 4.01 (3.99–4.03) |"), "{text}");
    assert!(!text.contains("quick** mode"), "{text}");

    let page = render(&folder).unwrap();
    assert_eq!(fs::read_to_string(page).unwrap(), text);
    let picture = fs::read_to_string(folder.join("fig6-streaming.svg")).unwrap();
    assert_eq!(picture, plot::draw(&figures[0], &data).unwrap());
    for text in ["<svg", "optimised, join", "ferrite-session, tokio 1", "Streaming"] {
        assert!(picture.contains(text), "{text}");
    }
    assert!(!picture.contains("mpstthree"), "nothing was measured of it");
}

#[test]
fn delays_save_what_the_paper_says_or_not() {
    let figures = figures::all();
    let lap = |x, seconds: f64| Row {
        unit: Unit::Seconds,
        ..row("coordination-fig4", "ours", x, &[seconds])
    };
    let (_, mut store) = store("delays", vec![lap(0, 0.006), lap(3, 0.002)]);
    assert_eq!(verdict(&store, &figures, "ring with delays"), ("67 %".to_owned(), Verdict::Pass));
    store.add(&environment(), vec![lap(3, 0.003)]).unwrap();
    assert_eq!(verdict(&store, &figures, "ring with delays"), ("50 %".to_owned(), Verdict::Short));
    assert_eq!(
        verdict(&store, &figures, "strong optimisation"),
        (String::new(), Verdict::Unmeasured)
    );
}

#[test]
fn a_cell_is_short_if_one_of_the_usual_channels_is_ahead() {
    let figures = figures::all();
    let cost = |series, seconds: f64| Row {
        unit: Unit::Seconds,
        ..row("channels", series, 1, &[seconds])
    };
    let beside = |kanal| {
        vec![cost("ours, tasks", 2.0), cost("tokio, tasks", 3.0), cost("kanal, tasks", kanal)]
    };
    for (kanal, measured, expected) in [
        (2.5, "`tokio` 1.50×, `kanal` 1.25×", Verdict::Pass),
        (1.0, "`tokio` 1.50×, `kanal` 0.500×", Verdict::Short),
    ] {
        let (_, store) = store("channels", beside(kanal));
        let cell = verdict(&store, &figures, "stream, two threads");
        assert_eq!(cell, (measured.to_owned(), expected));
    }
}
