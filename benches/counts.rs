//! The cost of the verifier in instructions and in memory, which do not depend on the load of the
//! machine.
//!
//! ```text
//! cargo bench -p rumpsteak-benches --bench counts
//! cargo bench -p rumpsteak-benches --bench counts -- streaming
//! ```
//!
//! Three tables: instructions, microseconds (the best of many runs, which depends least on a busy
//! machine), and memory. Each figure comes from its own process: instructions under `valgrind
//! --tool=callgrind`, which counts one function only, and memory as the peak of the process,
//! machines included. Counts vary by a few per cent if a hash table is involved, because hash
//! tables are seeded at random. The columns are named as in the benchmark `verifier`, but
//! `unprepared` and `prepared` do not write or check a certificate. Without valgrind or `/proc`,
//! "-" is printed.

#![expect(clippy::print_stdout, reason = "a program for people who measure; it prints its table")]

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use rumpsteak_benches::workloads::{
    client, eager_client, eager_hospital, hospital, kernel, limits, nested, ring, source,
};
use rumpsteak_fsm::{Fsm, Verdict, certificate, subtype};

const ROWS: &[(&str, &[usize])] = &[
    ("streaming", &[10, 30, 100, 300, 1_000]),
    ("k-buffering", &[10, 30, 100, 300, 1_000]),
    ("ring", &[30]),
    ("nested", &[5, 7]),
    ("nested-shared", &[100]),
    ("hospital", &[1]),
    ("client", &[1]),
];

const COLUMNS: [&str; 4] = ["unprepared", "prepared", "certificate", "check"];

fn pair(row: &str, size: usize) -> (Fsm, Fsm) {
    match row {
        "streaming" => (source(size), source(0)),
        "k-buffering" => (kernel(size), kernel(0)),
        "ring" => (ring(1, size, true), ring(1, size, false)),
        "nested" => (nested(size, true, true), nested(size, true, false)),
        "nested-shared" => (nested(size, false, true), nested(size, false, false)),
        "hospital" => (eager_hospital(), hospital()),
        _ => (eager_client(), client()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` says `--bench`, and what is meant for criterion.
    let arguments: Vec<String> =
        env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if let [runs, row, size, column] = arguments.as_slice()
        && ["once", "best"].contains(&runs.as_str())
    {
        return one(runs == "best", row, size.parse()?, column);
    }

    // One argument picks rows.
    let picked = |row: &str| arguments.iter().all(|part| row.contains(part.as_str()));
    let rows: Vec<(&str, usize)> = ROWS
        .iter()
        .filter(|(row, _)| picked(row))
        .flat_map(|&(row, sizes)| sizes.iter().map(move |&size| (row, size)))
        .collect();
    let head = COLUMNS.map(|column| format!(" {column:>12}")).concat();
    println!("{:>20}{head}", "instructions");
    for &(row, size) in &rows {
        let mut line = format!("{:>20}", format!("{row} {size}"));
        for column in COLUMNS {
            let count = instructions(row, size, column)?;
            line += &format!(" {:>12}", count.as_deref().unwrap_or("-"));
        }
        println!("{line}");
    }
    println!("\n{:>20}{head}", "microseconds");
    for &(row, size) in &rows {
        let mut line = format!("{:>20}", format!("{row} {size}"));
        for column in COLUMNS {
            line += &format!(" {:>12}", printed(&["best", row, &size.to_string(), column])?);
        }
        println!("{line}");
    }
    println!("\n{:>20} {:>12}", "megabytes", "unprepared");
    for &(row, size) in &rows {
        let peak = printed(&["once", row, &size.to_string(), "unprepared"])?;
        println!("{:>20} {peak:>12}", format!("{row} {size}"));
    }
    Ok(())
}

/// The output of this program for these arguments.
fn printed(arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let run = Command::new(env::current_exe()?).args(arguments).output()?;
    Ok(String::from_utf8(run.stdout)?.trim().to_owned())
}

/// The instructions of [`counted`] in a process that does one thing.
fn instructions(row: &str, size: usize, column: &str) -> Result<Option<String>, Box<dyn Error>> {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*counts*counted*")
        .arg(env::current_exe()?)
        .args(["once", row, &*size.to_string(), column])
        .output();
    let Ok(run) = run else { return Ok(None) };
    let report = String::from_utf8(run.stderr)?;
    let collected = report.lines().find_map(|line| line.split_once("Collected : "));
    Ok(collected.map(|(_, count)| count.trim().to_owned()))
}

/// Does one thing once, and prints the peak of memory, in megabytes; or often, and prints the best
/// time, in microseconds.
fn one(often: bool, row: &str, size: usize, column: &str) -> Result<(), Box<dyn Error>> {
    let limits = limits();
    let (sub, sup) = pair(row, size);
    let check = |sub: &Fsm, sup: &Fsm| match subtype::check(sub, sup, &limits) {
        Ok(Verdict::Safe(proof)) => proof,
        other => panic!("{row} {size} holds, but {other:?}"),
    };
    let mut best = Duration::MAX;
    let start = Instant::now();
    let mut runs = 0;
    // Enough runs that some are not interrupted.
    while runs == 0 || often && runs < 20_000 && start.elapsed() < Duration::from_secs(2) {
        // A copy of a machine that was never compared has been compared as little.
        let (sub, sup) = (sub.clone(), sup.clone());
        let time = match column {
            "unprepared" => measured(|| check(&sub, &sup)),
            "prepared" => {
                check(&sub, &sup);
                measured(|| check(&sub, &sup))
            }
            "certificate" => {
                let proof = check(&sub, &sup);
                measured(|| proof.certificate())
            }
            "check" => {
                let certificate = check(&sub, &sup).certificate();
                certificate::check(&certificate, &sub, &sup)?;
                measured(|| certificate::check(&certificate, &sub, &sup))
            }
            _ => return Err(format!("no column {column}").into()),
        };
        best = best.min(time);
        runs += 1;
    }
    if often {
        println!("{:.2}", best.as_nanos() as f64 / 1_000.0);
        return Ok(());
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        peak.and_then(|peak| peak.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    match kilobytes {
        Some(kilobytes) => println!("{:.1}", kilobytes as f64 / 1_000.0),
        None => println!("-"),
    }
    Ok(())
}

/// Measures the time of a function. Its result is dropped outside of the measured part.
fn measured<T>(work: impl Fn() -> T) -> Duration {
    let start = Instant::now();
    let made = counted(work);
    let time = start.elapsed();
    drop(made);
    time
}

/// The function that callgrind counts.
#[inline(never)]
fn counted<T>(work: impl Fn() -> T) -> T {
    black_box(work())
}
