//! What the verifier costs in instructions and in memory, which do not depend on what else the machine does.
//!
//! ```text
//! cargo run --release -p rumpsteak-benches --example counts
//! cargo run --release -p rumpsteak-benches --example counts -- streaming
//! ```
//!
//! Each row runs in processes of its own: under `valgrind --tool=callgrind`, which counts the instructions of one function and
//! nothing else, and once more by itself for the largest memory that the process had, machines included. Counts vary by a few per
//! cent where a hash table is involved, since these are seeded at random. `first`, `again`, `certificate` and `check` are those of the benchmark
//! `verifier`. Without valgrind or `/proc`, "-" is printed.

#![expect(
    clippy::print_stdout,
    reason = "a program for people who measure; it prints its table"
)]

#[path = "workloads.rs"]
#[allow(dead_code, reason = "the benchmark has more workloads")]
mod workloads;

use std::{env, error::Error, hint::black_box, process::Command};

use rumpsteak_fsm::{Fsm, Verdict, certificate, subtype};

use workloads::{eager_hospital, hospital, kernel, limits, nested, ring, source};

const ROWS: &[(&str, &[usize])] = &[
    ("streaming", &[10, 30, 100, 300, 1_000]),
    ("k-buffering", &[10, 30, 100, 300, 1_000]),
    ("ring", &[30]),
    ("nested", &[5, 7]),
    ("nested-shared", &[100]),
    ("hospital", &[1]),
];

const COLUMNS: [&str; 4] = ["first", "again", "certificate", "check"];

fn pair(row: &str, size: usize) -> (Fsm, Fsm) {
    match row {
        "streaming" => (source(size), source(0)),
        "k-buffering" => (kernel(size), kernel(0)),
        "ring" => (ring(1, size, true), ring(1, size, false)),
        "nested" => (nested(size, true, true), nested(size, true, false)),
        "nested-shared" => (nested(size, false, true), nested(size, false, false)),
        _ => (eager_hospital(), hospital()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [row, size, column] = arguments.as_slice() {
        return one(row, size.parse()?, column);
    }

    println!(
        "{:>20} {:>12} {:>12} {:>12} {:>12} {:>10}",
        "", "first", "again", "certificate", "check", "peak MB"
    );
    // One argument picks rows.
    let picked = |row: &str| arguments.iter().all(|part| row.contains(part.as_str()));
    for (row, sizes) in ROWS.iter().filter(|(row, _)| picked(row)) {
        for size in *sizes {
            let mut line = format!("{:>20}", format!("{row} {size}"));
            for column in COLUMNS {
                let count = instructions(row, *size, column)?;
                line += &format!(" {:>12}", count.as_deref().unwrap_or("-"));
            }
            let peak = Command::new(env::current_exe()?)
                .args([row, &*size.to_string(), "again"])
                .output()?;
            println!("{line} {:>10}", String::from_utf8(peak.stdout)?.trim());
        }
    }
    Ok(())
}

/// The instructions of [`measured`] in a process that does one thing.
fn instructions(row: &str, size: usize, column: &str) -> Result<Option<String>, Box<dyn Error>> {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*counts*measured*")
        .arg(env::current_exe()?)
        .args([row, &*size.to_string(), column])
        .output();
    let Ok(run) = run else { return Ok(None) };
    let report = String::from_utf8(run.stderr)?;
    let collected = report
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    Ok(collected.map(|(_, count)| count.trim().to_owned()))
}

/// Does one thing once, and prints the most memory that it took, in megabytes.
fn one(row: &str, size: usize, column: &str) -> Result<(), Box<dyn Error>> {
    let limits = limits();
    let (sub, sup) = pair(row, size);
    let check = || match subtype::check(&sub, &sup, &limits) {
        Ok(Verdict::Safe(proof)) => proof,
        other => panic!("{row} {size} holds, but {other:?}"),
    };
    match column {
        "first" => drop(measured(check)),
        "again" => {
            check();
            measured(check);
        }
        "certificate" => {
            let proof = check();
            measured(|| proof.certificate());
        }
        "check" => {
            let certificate = check().certificate();
            measured(|| certificate::check(&certificate, &sub, &sup))?;
        }
        _ => return Err(format!("no column {column}").into()),
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| {
        peak.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<u64>()
            .ok()
    });
    match kilobytes {
        Some(kilobytes) => println!("{:.1}", kilobytes as f64 / 1_000.0),
        None => println!("-"),
    }
    Ok(())
}

/// What callgrind counts.
#[inline(never)]
fn measured<T>(work: impl Fn() -> T) -> T {
    black_box(work())
}
