//! Fig. 7: what is asked, that it is answered, and what the paper published.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use rumpsteak_evaluation::verification::figures;
use rumpsteak_evaluation::{Figure, Mode, Of, Sample, Unit};

fn published(figure: &Figure, series: &str) -> Vec<(u64, f64)> {
    match &figure.series(series).unwrap().of {
        Of::Published(values) => values.clone(),
        other => panic!("{series} is {other:?}"),
    }
}

#[test]
fn the_figures_are_the_four_of_the_paper_with_what_it_published() {
    /// Series, how many points, and the last of them.
    type Series = &'static [(&'static str, usize, u64, f64)];
    let expected: [(&str, Series); 4] = [
        (
            "fig7-streaming",
            &[
                ("SoundBinary (published)", 11, 100, 0.767_426),
                ("k-MC (published)", 11, 100, 3.349_204),
                ("Rumpsteak (published)", 11, 100, 0.002_249),
            ],
        ),
        (
            "fig7-nested-choice",
            &[
                ("SoundBinary (published)", 5, 5, 4.692_525),
                ("k-MC (published)", 5, 5, 41.688_068),
                ("Rumpsteak (published)", 5, 5, 0.157_548),
            ],
        ),
        (
            "fig7-ring",
            &[
                ("k-MC (published)", 15, 30, 4.099_072),
                ("Rumpsteak (published)", 15, 30, 0.000_769),
            ],
        ),
        (
            "fig7-k-buffering",
            &[
                ("k-MC (published)", 21, 100, 2.111_687),
                ("Rumpsteak (published)", 21, 100, 0.001_234),
            ],
        ),
    ];
    let figures = figures();
    let names: Vec<_> = figures.iter().map(|figure| figure.name).collect();
    assert_eq!(names, expected.map(|(name, _)| name));
    for (figure, (_, all)) in figures.iter().zip(expected) {
        for &(series, count, x, seconds) in all {
            let values = published(figure, series);
            assert_eq!(values.len(), count, "{} {series}", figure.name);
            assert_eq!(values.last(), Some(&(x, seconds)), "{} {series}", figure.name);
        }
    }
}

#[test]
fn the_points_are_those_of_the_paper_and_ten_times_beyond() {
    for figure in figures() {
        let full = (figure.points)(Mode::Full);
        let paper: Vec<u64> =
            published(&figure, "Rumpsteak (published)").iter().map(|&(x, _)| x).collect();
        assert_eq!(full[..paper.len()], paper, "{}", figure.name);
        assert_eq!(full.last(), Some(&(10 * paper.last().unwrap())), "{}", figure.name);
        // What the quick mode measures is among it.
        for x in (figure.points)(Mode::Quick) {
            assert!(full.contains(&x), "{} {x}", figure.name);
        }
    }
}

#[test]
fn each_series_is_measured_in_a_process_of_its_own() {
    for figure in figures() {
        for mode in [Mode::Quick, Mode::Full] {
            let mut measured = vec![];
            for x in (figure.points)(mode) {
                for case in (figure.cases)(x, mode).unwrap() {
                    assert_eq!((case.figure, case.x), (figure.name, x));
                    assert_eq!(case.unit, Unit::Seconds);
                    assert!(case.isolated.is_some(), "{case:?}");
                    measured.push(case.series);
                }
            }
            for series in &figure.series {
                assert_eq!(
                    matches!(series.of, Of::Published(_)),
                    !measured.contains(&series.name),
                    "{} {}",
                    figure.name,
                    series.name
                );
            }
        }
    }
}

#[test]
fn each_case_is_answered() {
    for figure in figures() {
        let points = (figure.points)(Mode::Quick);
        for &x in &points[..2] {
            for mut case in (figure.cases)(x, Mode::Quick).unwrap() {
                match (case.measure)().unwrap() {
                    Sample::Value { value, .. } => {
                        assert!(value > 0.0 && value < 60.0, "{case:?}: {value}");
                    }
                    other @ Sample::TimedOut(_) => panic!("{case:?}: {other:?}"),
                }
            }
        }
    }
}
