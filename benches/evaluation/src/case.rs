//! One thing to measure: a series of a figure at one value of the x axis.

use std::fmt;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// The length of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Enough to see the picture: all figures take a few minutes.
    Quick,
    /// Enough to compare: all figures take up to twenty minutes.
    Full,
}

impl Mode {
    /// How many samples each case gets, unless its figure says otherwise.
    #[must_use]
    pub fn samples(self) -> usize {
        match self {
            Self::Quick => 15,
            Self::Full => 31,
        }
    }

    /// How long one sample of [`Case::timed`] runs at least.
    #[must_use]
    pub fn sample_time(self) -> Duration {
        match self {
            Self::Quick => Duration::from_millis(10),
            Self::Full => Duration::from_millis(30),
        }
    }

    /// Its name in the stored results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }

    /// The mode of this [`name`](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Quick, Self::Full].into_iter().find(|mode| mode.name() == name)
    }
}

/// The unit of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds of wall-clock time, for one run: less is better.
    Seconds,
    /// Seconds of processor time, user and system, of a process and its children: less is better.
    CpuSeconds,
    /// So many values a second: more is better.
    PerSecond,
    /// A number of things: less is better.
    Count,
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Seconds, Self::CpuSeconds, Self::PerSecond, Self::Count];

    /// Its name in the stored results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::CpuSeconds => "CPU-seconds",
            Self::PerSecond => "per second",
            Self::Count => "count",
        }
    }

    /// The unit of this [`name`](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Returns true if the larger of two samples is the better one.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self == Self::PerSecond
    }
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// A value in the unit of the case.
    Value {
        /// The value.
        value: f64,
        /// The peak of resident memory, in bytes, if the sample had its own process.
        peak: Option<u64>,
    },
    /// No result within this time, which is itself a value of the row. No further sample is taken.
    TimedOut(Duration),
}

impl Sample {
    /// A value, without memory.
    #[must_use]
    pub fn of(value: f64) -> Self {
        Self::Value { value, peak: None }
    }
}

/// A function that measures a case once, and checks the output of the run.
pub type Measure = Box<dyn FnMut() -> Result<Sample>>;

/// One thing to measure.
pub struct Case {
    /// The name of the figure.
    pub figure: &'static str,
    /// The name of the series.
    pub series: &'static str,
    /// The position on the x axis.
    pub x: u64,
    /// The unit of a sample.
    pub unit: Unit,
    /// How many samples to take: [`Mode::samples`] by default. A case that has all of its
    /// samples leaves the rounds.
    pub samples: Option<usize>,
    /// Each sample runs in a process of its own, which is killed after this time.
    pub isolated: Option<Duration>,
    /// Takes a sample.
    pub measure: Measure,
}

impl Case {
    /// A case whose samples `measure` takes.
    pub fn new(
        figure: &'static str,
        series: &'static str,
        x: u64,
        unit: Unit,
        measure: impl FnMut() -> Result<Sample> + 'static,
    ) -> Self {
        Self { figure, series, x, unit, samples: None, isolated: None, measure: Box::new(measure) }
    }

    /// A case that runs `run` as often as fills [`Mode::sample_time`]; its samples are the seconds
    /// of one run. `run` checks its output.
    pub fn timed(
        figure: &'static str,
        series: &'static str,
        x: u64,
        mode: Mode,
        run: impl FnMut() -> Result<()> + 'static,
    ) -> Self {
        let mut timed = Timed::new(mode.sample_time(), run);
        Self::new(figure, series, x, Unit::Seconds, move || Ok(Sample::of(timed.sample()?)))
    }

    /// Like [`timed`](Self::timed); its samples are how many values a second pass, if each run
    /// passes `values`.
    pub fn throughput(
        figure: &'static str,
        series: &'static str,
        x: u64,
        mode: Mode,
        values: u64,
        run: impl FnMut() -> Result<()> + 'static,
    ) -> Self {
        let mut timed = Timed::new(mode.sample_time(), run);
        Self::new(figure, series, x, Unit::PerSecond, move || {
            Ok(Sample::of(values as f64 / timed.sample()?))
        })
    }

    /// Takes each sample in a process of its own and records its peak memory; after `timeout` the
    /// process is killed, and [`Sample::TimedOut`] is the result.
    #[must_use]
    pub fn isolated(mut self, timeout: Duration) -> Self {
        self.isolated = Some(timeout);
        self
    }

    /// Takes so many samples.
    #[must_use]
    pub fn samples(mut self, samples: usize) -> Self {
        self.samples = Some(samples);
        self
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Case")
            .field("figure", &self.figure)
            .field("series", &self.series)
            .field("x", &self.x)
            .field("unit", &self.unit)
            .field("samples", &self.samples)
            .field("isolated", &self.isolated)
            .finish_non_exhaustive()
    }
}

/// Runs something as often as a sample lasts.
struct Timed<R> {
    least: Duration,
    run: R,
    /// How many runs a sample has, once that is known.
    runs: Option<u32>,
}

impl<R: FnMut() -> Result<()>> Timed<R> {
    fn new(least: Duration, run: R) -> Self {
        Self { least, run, runs: None }
    }

    /// The seconds of one run, on average over a sample.
    fn sample(&mut self) -> Result<f64> {
        let runs = match self.runs {
            Some(runs) => runs,
            None => {
                let runs = self.calibrate()?;
                *self.runs.insert(runs)
            }
        };
        Ok(self.time(runs)?.as_secs_f64() / f64::from(runs))
    }

    /// Twice as many runs until they take half of a sample, which also warms caches up. The first
    /// run does not count, because it checks more of its output than the others.
    fn calibrate(&mut self) -> Result<u32> {
        self.time(1)?;
        let mut runs = 1;
        loop {
            let taken = self.time(runs)?;
            if taken >= self.least / 2 {
                let fraction = self.least.as_secs_f64() / taken.as_secs_f64();
                return Ok((f64::from(runs) * fraction).ceil().max(1.0) as u32);
            }
            runs = runs.checked_mul(2).ok_or_else(|| {
                Error::wrong("a run takes no time at all: it does not do what it should")
            })?;
        }
    }

    fn time(&mut self, runs: u32) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..runs {
            (self.run)()?;
        }
        Ok(start.elapsed())
    }
}
