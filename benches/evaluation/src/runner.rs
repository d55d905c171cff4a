//! Takes the samples.
//!
//! The program that the user starts only starts others: one per figure with a pinned allocator,
//! which may in turn start one per sample ([`Case::isolated`]). Results that are already stored for
//! this machine, these versions and this mode are skipped, so that an interrupted run continues.
//! All series of one x are skipped or measured together, since ratios between different runs mean
//! nothing.

#![allow(clippy::print_stdout, reason = "progress")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, fs, thread};

use crate::{Case, Environment, Error, Figure, Mode, Quartiles, Result, Row, Sample, Store};

/// The settings of glibc's allocator: large blocks come from the heap, and the heap never shrinks.
/// Without glibc they do nothing.
pub const ALLOCATOR: &str = "glibc.malloc.mmap_threshold=1073741824:\
    glibc.malloc.trim_threshold=1073741824:glibc.malloc.top_pad=16777216";

/// The figures to measure, and the place of the results.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The figures.
    pub figures: Vec<Figure>,
    /// How long.
    pub mode: Mode,
    /// Also measure what is already stored.
    pub again: bool,
    /// The folder of the report. Results are in its folder `data`.
    pub folder: PathBuf,
}

impl Plan {
    /// The folder of the results.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

/// Measures the figures of a plan, each in a process of its own.
///
/// # Errors
///
/// The error of the first figure that fails; [`Error::Io`].
pub fn run(plan: &Plan) -> Result<()> {
    let start = Instant::now();
    // Refuses a broken store before anything is measured.
    Store::open(&plan.data())?;
    let program = program()?;
    for (index, figure) in plan.figures.iter().enumerate() {
        println!(
            "== {} ({} of {}, {} s)",
            figure.name,
            index + 1,
            plan.figures.len(),
            start.elapsed().as_secs()
        );
        let mut command = Command::new(&program);
        command
            .args(["measure", figure.name, "--folder"])
            .arg(&plan.folder)
            .env("GLIBC_TUNABLES", ALLOCATOR);
        if plan.mode == Mode::Quick {
            command.arg("--quick");
        }
        if plan.again {
            command.arg("--again");
        }
        let status = command.status().map_err(Error::io(&program))?;
        if !status.success() {
            return Err(Error::Wrong(format!("figure {} was not measured", figure.name)));
        }
    }
    Store::open(&plan.data())?.compact()?;
    println!("== measured in {} s", start.elapsed().as_secs());
    Ok(())
}

/// Measures the figures of a plan in this process.
///
/// # Errors
///
/// The errors of the cases; [`Error::Io`].
pub fn measure(plan: &Plan) -> Result<()> {
    let environment = Environment::here();
    let mut store = Store::open(&plan.data())?;
    for figure in &plan.figures {
        let points = (figure.points)(plan.mode);
        for (index, &x) in points.iter().enumerate() {
            let cases = (figure.cases)(x, plan.mode)?;
            let at = format!("{} x = {x} ({} of {})", figure.name, index + 1, points.len());
            if !plan.again && is_stored(&store, &environment, &cases, plan.mode) {
                println!("{at}: stored");
                continue;
            }
            let start = Instant::now();
            let rows = rounds(cases, plan.mode, &environment)?;
            println!("{at}: {:.1} s", start.elapsed().as_secs_f64());
            for row in &rows {
                println!("    {:<28} {}", row.series, middle(row));
            }
            store.add(&environment, rows)?;
        }
    }
    Ok(())
}

/// Returns true if each case was measured, with this machine, these versions and this mode.
fn is_stored(store: &Store, environment: &Environment, cases: &[Case], mode: Mode) -> bool {
    let id = environment.id();
    cases.iter().all(|case| {
        let row = store.row(case.figure, case.series, case.x, mode);
        row.is_some_and(|row| row.environment == id)
    })
}

/// Takes a sample of each case in turns, until each has all of its samples.
///
/// # Errors
///
/// The errors of the cases.
pub fn rounds(cases: Vec<Case>, mode: Mode, environment: &Environment) -> Result<Vec<Row>> {
    let date = now();
    let mut rows = cases
        .into_iter()
        .map(|case| {
            let row = Row {
                figure: case.figure.to_owned(),
                series: case.series.to_owned(),
                x: case.x,
                mode,
                unit: case.unit,
                samples: Vec::new(),
                peak: None,
                timed_out: None,
                environment: environment.id(),
                date: date.clone(),
            };
            (case, row)
        })
        .collect::<Vec<_>>();
    let mut round = 0;
    loop {
        let count = rows.len();
        let mut complete = true;
        for index in 0..count {
            // Each round begins with another case, so that no case always follows the same one.
            let (case, row) = &mut rows[(index + round) % count];
            let wanted = case.samples.unwrap_or_else(|| mode.samples()).max(1);
            if row.timed_out.is_some() || row.samples.len() >= wanted {
                continue;
            }
            complete = false;
            match take(case, mode)? {
                Sample::Value { value, peak } => {
                    row.samples.push(value);
                    row.peak = row.peak.max(peak);
                }
                Sample::TimedOut(time) => {
                    row.samples.clear();
                    row.timed_out = Some(time.as_secs_f64());
                }
            }
        }
        if complete {
            return Ok(rows.into_iter().map(|(_, row)| row).collect());
        }
        round += 1;
    }
}

/// One sample of a case, in a process of its own if it wants one.
fn take(case: &mut Case, mode: Mode) -> Result<Sample> {
    match case.isolated {
        None => (case.measure)(),
        Some(timeout) => take_isolated(case, mode, timeout),
    }
    .map_err(|error| match error {
        Error::Wrong(why) => {
            Error::Wrong(format!("{}, {}, x = {}: {why}", case.figure, case.series, case.x))
        }
        other => other,
    })
}

fn take_isolated(case: &Case, mode: Mode, timeout: Duration) -> Result<Sample> {
    let program = program()?;
    let mut child = Command::new(&program)
        .args(["sample", case.figure, case.series])
        .args([&case.x.to_string(), mode.name()])
        .env("GLIBC_TUNABLES", ALLOCATOR)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(Error::io(&program))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(Error::io(&program))? {
            break status;
        }
        if start.elapsed() >= timeout {
            // If this fails, it has ended meanwhile.
            let _ = child.kill();
            child.wait().map_err(Error::io(&program))?;
            return Ok(Sample::TimedOut(timeout));
        }
        thread::sleep(Duration::from_millis(2));
    };
    let mut said = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut said).map_err(Error::io(&program))?;
    }
    if !status.success() {
        return Err(Error::Wrong(format!("the process ended with {status}")));
    }
    read_sample(&said).ok_or_else(|| Error::Wrong(format!("the process said `{}`", said.trim())))
}

/// The task of a process for one sample: takes the sample and prints it, with its peak of memory.
///
/// # Errors
///
/// The errors of the case; [`Error::Usage`] if the case is unknown.
pub fn sample(figure: &Figure, series: &str, x: u64, mode: Mode) -> Result<()> {
    let mut case = (figure.cases)(x, mode)?
        .into_iter()
        .find(|case| case.series == series)
        .ok_or_else(|| Error::Usage(format!("{} has no series `{series}`", figure.name)))?;
    match (case.measure)()? {
        Sample::Value { value, peak } => {
            let peak = peak.or_else(peak_memory).unwrap_or(0);
            println!("value {value:e} peak {peak}");
        }
        Sample::TimedOut(time) => println!("timeout {}", time.as_secs_f64()),
    }
    Ok(())
}

/// Reads the last output of [`sample`].
fn read_sample(said: &str) -> Option<Sample> {
    let words = said.lines().last()?.split(' ').collect::<Vec<_>>();
    match words[..] {
        ["value", value, "peak", peak] => Some(Sample::Value {
            value: value.parse().ok()?,
            peak: peak.parse().ok().filter(|&peak| peak > 0),
        }),
        ["timeout", time] => {
            Some(Sample::TimedOut(Duration::try_from_secs_f64(time.parse().ok()?).ok()?))
        }
        _ => None,
    }
}

/// The peak of resident memory of this process so far, in bytes, as Linux reports it.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The median of a row for the progress.
fn middle(row: &Row) -> String {
    match (Quartiles::of(&row.samples), row.timed_out) {
        (Some(quartiles), _) => format!(
            "{:.4e} {} (± {:.0} %)",
            quartiles.median,
            row.unit.name(),
            50.0 * quartiles.spread()
        ),
        (None, Some(time)) => format!("timed out after {time} s"),
        (None, None) => "nothing".to_owned(),
    }
}

/// This program.
fn program() -> Result<PathBuf> {
    env::current_exe().map_err(Error::io(Path::new("the path of this program")))
}

/// The date and time in UTC, to the minute.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds)
}

/// The date and time of so many seconds after 1970 began, in UTC.
fn date(seconds: u64) -> String {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut days, time) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02} {:02}:{:02} UTC", days + 1, time / 3600, time / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::{Sample, date, read_sample};
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_735_689_599), "2024-12-31 23:59 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
    }

    #[test]
    fn a_sample_of_another_process_is_read_or_refused() {
        assert_eq!(
            read_sample("noise\nvalue 2.5e-3 peak 4096\n"),
            Some(Sample::Value { value: 0.0025, peak: Some(4096) })
        );
        assert_eq!(read_sample("value 7e0 peak 0"), Some(Sample::of(7.0)));
        assert_eq!(read_sample("timeout 10"), Some(Sample::TimedOut(Duration::from_secs(10))));
        for wrong in ["", "value", "value x peak 0", "timeout -1", "value 1 peak 1 1"] {
            assert_eq!(read_sample(wrong), None, "{wrong}");
        }
    }
}
