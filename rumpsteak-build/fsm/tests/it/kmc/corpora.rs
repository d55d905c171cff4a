//! The systems with known properties.

use std::fs;
use std::path::Path;

use rumpsteak_fsm::kmc::{self, Flaw, Obstacle, Reduction, Verdict, Witness};
use rumpsteak_fsm::system::System;
use rumpsteak_fsm::{Limits, text};
use rumpsteak_oracle::corpus;

use super::reference::{Kind, Reference};

#[derive(Debug)]
struct Row {
    file: String,
    bound: usize,
    csa: bool,
    directed: bool,
    exhaustive: bool,
    safe: bool,
    is_full: bool,
}

fn rows(folder: &Path) -> Vec<Row> {
    let table = fs::read_to_string(folder.join("expected.csv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Row {
            file: cells[0].to_owned(),
            bound: cells[2].parse().unwrap(),
            csa: cells[3] == "True",
            directed: cells[4] == "True",
            exhaustive: cells[5] == "True",
            safe: cells[6] == "True",
            is_full: cells[7] == "full",
        }
    };
    table.lines().skip(1).map(row).collect()
}

fn read(folder: &Path, file: &str) -> System {
    System::new(text::parse(&fs::read_to_string(folder.join(file)).unwrap()).unwrap()).unwrap()
}

/// The rows, computed by a tool on its own reduction, that are not as defined: file, bounds,
/// whether the system is k-exhaustive and k-safe. Two parts of that tool's reduction are not sound
/// where a machine chooses between peers; all these systems do.
const WRONG_ROWS: &[(&str, &[usize], (bool, bool))] = &[
    ("nondir/inv-ext-choice-k2.txt", &[4, 5], (false, false)),
    ("nondir/popl15ce1-2.txt", &[4, 5], (false, false)),
    ("nondir/popl15ce1-3-c.txt", &[4, 5], (true, false)),
    ("nondir/popl15ce1.txt", &[4, 5], (true, false)),
    ("sndprojnocommute2-res.txt", &[4, 5], (true, false)),
    ("synthesis/abc-dir.txt", &[2, 3, 4, 5], (true, false)),
];

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_corpora_have_their_expected_properties() {
    let folder = corpus("kmc");
    let limits = Limits::default().configurations(2_000_000);
    let rows = rows(&folder);
    assert_eq!(rows.iter().filter(|row| row.is_full).count(), 202);
    for row in rows {
        let system = read(&folder, &row.file);
        let is = kmc::check_at(&system, row.bound, Reduction::PartialOrder, &limits);
        let wrong = WRONG_ROWS
            .iter()
            .find(|(file, bounds, _)| *file == row.file && bounds.contains(&row.bound));
        let expected = match wrong {
            Some(&(.., properties)) => {
                assert!(!row.is_full, "{row:?}");
                assert_ne!(properties, (row.exhaustive, row.safe), "{row:?}");
                properties
            }
            None => (row.exhaustive, row.safe),
        };
        let is_safe =
            is.progress.holds().zip(is.reception.holds()).map(|(one, other)| one && other);
        let properties = (is.exhaustive.holds(), is_safe);
        assert_eq!(properties, (Some(expected.0), Some(expected.1)), "{row:?}");
        assert_eq!((is.mixed.is_none(), is.is_directed()), (row.csa, row.directed), "{row:?}");
    }
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_rows_that_are_wrong_have_runs_that_show_it() {
    let folder = corpus("kmc");
    for &(file, bounds, (exhaustive, _)) in WRONG_ROWS {
        for &bound in bounds {
            let system = read(&folder, file);
            let reference = Reference::new(&system, bound, 1_000).unwrap();
            let is = kmc::check_at(&system, bound, Reduction::None, &Limits::default());
            assert_eq!(reference.violation(Kind::Exhaustive).is_none(), exhaustive, "{file}");
            // None of them is safe: here is a shortest run to where one of its halves fails.
            let halves = [(Kind::Progress, &is.progress), (Kind::Reception, &is.reception)];
            let shown = halves.into_iter().any(|(kind, property)| match property {
                kmc::Property::Fails(witness) => {
                    assert!(reference.shows(kind, &witness.steps, &witness.flaw), "{file}");
                    assert_eq!(Some(witness.steps.len()), reference.violation(kind), "{file}");
                    true
                }
                _ => false,
            });
            assert!(shown, "{file} {bound}");
        }
    }
}

#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_corpora_have_their_verdicts() {
    let folder = corpus("kmc");
    let mut files: Vec<String> = rows(&folder).into_iter().map(|row| row.file).collect();
    files.dedup();
    let limits = Limits::default().configurations(100_000);
    let mut bounds = [0; 6];
    let mut unsafe_count = 0;
    let mut undecided = vec![];
    for file in &files {
        let system = read(&folder, file);
        let report = kmc::check(&system, &limits);
        match report.verdict {
            Verdict::Safe(bound) => bounds[bound.min(6) - 1] += 1,
            Verdict::Unsafe(run) => {
                assert!(run.replay(&system), "{file}");
                unsafe_count += 1;
            }
            Verdict::Undecided(_) => {
                let obstacle = match report.obstacle {
                    Some(Obstacle::Bound(Witness { flaw: Flaw::Blocked(..), .. })) => "grows",
                    Some(Obstacle::Bound(_)) => "depends on the bound",
                    Some(Obstacle::Machine(..)) => "no CSA",
                    _ => "unknown",
                };
                undecided.push((file.as_str(), obstacle));
            }
        }
    }
    // By least bound; the last one is 16.
    assert_eq!((bounds, unsafe_count), ([38, 10, 2, 0, 1, 1], 22));
    assert_eq!(
        undecided,
        [
            ("benchmarks/elevator-extra.txt", "depends on the bound"),
            ("cycle.txt", "grows"),
            ("infinite.txt", "grows"),
            ("ininite.txt", "grows"),
            ("july3.txt", "grows"),
            ("synchronisable/elevator-extra-variant.txt", "depends on the bound"),
            ("synchronisable/inf-snd-rcv.txt", "grows"),
        ]
    );
}
