//! Verifies the measured sessions, and reports the sources and the versions of the peers.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The measured sources. Results of different sources are not mixed.
const MEASURED: [&str; 4] = [
    "../../rumpsteak-runtime",
    "../../rumpsteak-build/src",
    "../../rumpsteak-build/fsm/src",
    "../../rumpsteak-build/scribble/src",
];

/// The packages whose versions the report states.
const PEERS: [&str; 10] = [
    "rumpsteak",
    "ferrite-session",
    "mpstthree",
    "rustfft",
    "tokio",
    "flume",
    "async-channel",
    "kanal",
    "redis",
    "tokio-postgres",
];

fn main() -> io::Result<()> {
    rumpsteak_build::configure()
        .protocols("../../protocols/three_adder.scr")
        .protocols("../protocols")
        .protocols("protocols")
        .verify()
        .map_err(io::Error::other)?;

    let mut files = Vec::new();
    for folder in MEASURED {
        println!("cargo::rerun-if-changed={folder}");
        sources(Path::new(folder), &mut files)?;
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in &files {
        for byte in fs::read(file)? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=EVALUATION_SOURCES={hash:016x}");

    let lock = "../../Cargo.lock";
    println!("cargo::rerun-if-changed={lock}");
    let versions = versions(&fs::read_to_string(lock)?);
    println!("cargo::rustc-env=EVALUATION_PEERS={}", versions.join(", "));
    Ok(())
}

/// All Rust files of a folder.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The peers with their versions, as the lock file has them.
fn versions(lock: &str) -> Vec<String> {
    let value = |line: &str| line.split('"').nth(1).map(str::to_owned);
    let mut versions = Vec::new();
    let mut lines = lock.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("name = ").and_then(|_| value(line)) else {
            continue;
        };
        if PEERS.contains(&name.as_str())
            && let Some(version) = lines.next().and_then(value)
        {
            versions.push(format!("{name} {version}"));
        }
    }
    versions
}
