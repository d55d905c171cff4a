//! Jacobi's method in C over MPI, if Open MPI is installed: Debian's `openmpi-bin` and
//! `libopenmpi-dev`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs, process};

use crate::{Error, Result};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mpi/jacobi.c");

/// True if this machine has a compiler and a launcher for MPI.
pub(crate) fn is_installed() -> bool {
    ["mpicc", "mpirun"].iter().all(|program| {
        let version = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    })
}

/// The program, running: three ranks that wait for a line. They end with the standard input.
pub(crate) struct Jacobi {
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    ranks: Child,
    program: PathBuf,
}

impl Jacobi {
    /// Compiles and starts it. Messages go `over` these byte transfer layers of Open MPI.
    pub(crate) fn start(size: u64, accuracy: f64, over: &str) -> Result<Self> {
        let name = format!("rumpsteak-jacobi-{}-{size}-{over}", process::id());
        let program = env::temp_dir().join(name);
        let compiled = Command::new("mpicc")
            .args(["-O2", "-o"])
            .arg(&program)
            .args([SOURCE, "-lm"])
            .status()
            .map_err(Error::wrong)?;
        if !compiled.success() {
            return Err(Error::wrong(format!("mpicc ends with {compiled}")));
        }
        let mut ranks = Command::new("mpirun")
            // Open MPI refuses the superuser otherwise, whom containers have.
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .args(["--oversubscribe", "-n", "3", "--mca", "btl"])
            .arg(format!("self,{over}"))
            .arg(&program)
            .args([size.to_string(), accuracy.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::wrong)?;
        let gone = || Error::wrong("mpirun has no pipes");
        let input = Some(ranks.stdin.take().ok_or_else(gone)?);
        let output = BufReader::new(ranks.stdout.take().ok_or_else(gone)?);
        Ok(Self { input, output, ranks, program })
    }

    /// Solves the plate. Returns the seconds, the number of rounds, and the sum of all points.
    pub(crate) fn solve(&mut self) -> Result<(f64, usize, f64)> {
        let input = self.input.as_mut().ok_or_else(|| Error::wrong("mpirun has ended"))?;
        input.write_all(b"\n").map_err(Error::wrong)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(Error::wrong)?;
        let mut numbers = line.split_whitespace();
        let mut next = || numbers.next().ok_or_else(|| Error::wrong(format!("MPI says {line:?}")));
        let (seconds, rounds, sum) = (next()?, next()?, next()?);
        Ok((
            seconds.parse().map_err(Error::wrong)?,
            rounds.parse().map_err(Error::wrong)?,
            sum.parse().map_err(Error::wrong)?,
        ))
    }
}

impl Drop for Jacobi {
    fn drop(&mut self) {
        // Without its input it ends.
        self.input = None;
        let _ = self.ranks.wait();
        let _ = fs::remove_file(&self.program);
    }
}
