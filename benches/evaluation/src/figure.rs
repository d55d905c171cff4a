//! The figures, their series, and the functions that measure them.

use crate::{Case, Mode, Result};

/// One picture of the report, and the table below it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name on the command line and of its files.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The figure of a paper that it repeats, and how: Markdown.
    pub about: &'static str,
    /// The x axis.
    pub x: XAxis,
    /// The y axis.
    pub y: YAxis,
    /// The series, in the order of the legend. Each case belongs to one.
    pub series: Vec<Series>,
    /// The values of the x axis that are measured in this mode.
    pub points: fn(Mode) -> Vec<u64>,
    /// Makes the cases of the series at one value of the x axis. Their samples are taken in turns,
    /// so that the noise of the machine hits all alike.
    pub cases: fn(u64, Mode) -> Result<Vec<Case>>,
    /// Notes for the reader, for instance about the limits of a peer: Markdown.
    pub notes: &'static str,
}

impl Figure {
    /// The series of this name.
    #[must_use]
    pub fn series(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }
}

/// The x axis of a figure.
#[derive(Clone, Copy, Debug)]
pub struct XAxis {
    /// The label below it.
    pub label: &'static str,
    /// True if it is logarithmic.
    pub log: bool,
    /// The names of 0, 1, … if the axis has no numbers: the figure is drawn as bars.
    pub names: &'static [&'static str],
}

/// The y axis of a figure.
#[derive(Clone, Copy, Debug)]
pub struct YAxis {
    /// The label beside it, with the unit.
    pub label: &'static str,
    /// True if it is logarithmic.
    pub log: bool,
    /// The factor from samples to shown values.
    pub scale: f64,
}

/// One line or one colour of bars.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend and in the stored results.
    pub name: &'static str,
    /// The kind of the series.
    pub of: Of,
    /// The program that it runs: Markdown.
    pub about: &'static str,
}

/// The kind of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Of {
    /// This project's.
    Ours,
    /// The floor: the same work without sessions.
    Floor,
    /// A peer's, measured here.
    Peer,
    /// Published figures, measured on other hardware: `(x, y)` in the unit of the samples.
    Published(Vec<(u64, f64)>),
}

/// The series of this project in the runtime figures of PPoPP'22. `optimised` says what the
/// optimised processes do differently.
pub(crate) fn ours(optimised: &'static str) -> Vec<Series> {
    let series = |name, about| Series { name, of: Of::Ours, about };
    vec![
        series("plain, join", "the processes in one task, by `rumpsteak_runtime::join`"),
        series("optimised, join", optimised),
        series("plain, tokio 1", "a task for each process, one thread"),
        series("optimised, tokio 1", optimised),
        series("plain, tokio 2", "a task for each process, two threads"),
        series("optimised, tokio 2", optimised),
    ]
}

/// Figures of PPoPP'22, full version, App. C.1, at the given values of the x axis.
pub(crate) fn published(
    points: [u64; 5],
    series: &[(&'static str, [f64; 5])],
) -> impl Iterator<Item = Series> {
    series.iter().map(move |&(name, millions)| Series {
        name,
        of: Of::Published(points.into_iter().zip(millions.map(|value| value * 1e6)).collect()),
        about: "PPoPP'22, full version, App. C.1: on a 16-core AMD Opteron 6200 at 2.6 GHz; not measured here, so it has no ratio",
    })
}
