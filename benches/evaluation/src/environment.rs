//! The environment of a measurement.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

/// The machine and the versions. Results of different environments are never compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The model of the processor.
    pub cpu: String,
    /// How many threads run at once.
    pub cores: u64,
    /// The memory of the machine, in bytes.
    pub memory: u64,
    /// The operating system with its kernel.
    pub os: String,
    /// The compiler.
    pub rustc: String,
    /// The peers with their versions.
    pub peers: String,
    /// A hash of the measured sources of this project.
    pub sources: String,
}

impl Environment {
    /// This environment. Missing facts are `unknown`.
    #[must_use]
    pub fn here() -> Self {
        let cpu = first_of("/proc/cpuinfo", "model name");
        let memory = first_of("/proc/meminfo", "MemTotal")
            .split(' ')
            .next()
            .and_then(|kibibytes| kibibytes.parse::<u64>().ok())
            .map_or(0, |kibibytes| kibibytes * 1024);
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            cpu,
            cores: std::thread::available_parallelism().map_or(0, |cores| cores.get() as u64),
            memory,
            os: format!("{}, {} {}", distribution(), std::env::consts::OS, kernel.trim()),
            rustc: said_by("rustc", "--version"),
            peers: env!("EVALUATION_PEERS").to_owned(),
            sources: env!("EVALUATION_SOURCES").to_owned(),
        }
    }

    /// A short name of it: equal environments have equal names.
    #[must_use]
    pub fn id(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.to_json().to_string().bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{hash:016x}")
    }

    /// Its form in the stored results.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "cpu": self.cpu,
            "cores": self.cores,
            "memory": self.memory,
            "os": self.os,
            "rustc": self.rustc,
            "peers": self.peers,
            "sources": self.sources,
        })
    }

    /// Reads that form; `None` if a member is missing or is of another type.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        let number = |name: &str| value.get(name)?.as_u64();
        Some(Self {
            cpu: text("cpu")?,
            cores: number("cores")?,
            memory: number("memory")?,
            os: text("os")?,
            rustc: text("rustc")?,
            peers: text("peers")?,
            sources: text("sources")?,
        })
    }
}

/// The text behind the first `name:` of a file.
fn first_of(file: &str, name: &str) -> String {
    fs::read_to_string(file)
        .ok()
        .and_then(|text| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == name).then(|| value.trim().to_owned())
            })
        })
        .unwrap_or_else(|| "unknown".to_owned())
}

/// The name of the distribution.
fn distribution() -> String {
    fs::read_to_string("/etc/os-release")
        .ok()
        .and_then(|text| {
            text.lines().find_map(|line| {
                let name = line.strip_prefix("PRETTY_NAME=")?;
                Some(name.trim_matches('"').to_owned())
            })
        })
        .unwrap_or_else(|| "unknown".to_owned())
}

fn said_by(program: &str, argument: &str) -> String {
    Command::new(program)
        .arg(argument)
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
}
