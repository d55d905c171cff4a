//! Runs the real command in a folder of its own.
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

pub(crate) use rumpsteak_oracle::{DOUBLE_BUFFERING, begins, ends, says};
use serde_json::Value;

/// An empty folder for one test, named after it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, and returns the folder.
    pub(crate) fn with(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.run_with_input(arguments, "")
    }

    /// Runs the command as [`run`](Self::run) does, with words separated by blanks.
    pub(crate) fn call(&self, line: &str) -> Run {
        self.run(line.split_whitespace())
    }

    pub(crate) fn run_with_input<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &str,
    ) -> Run {
        let mut child = command()
            .args(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The command may have ended without reading.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Run {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The command, or the one at `RUMPSTEAK_COMMAND`, without settings for colours and folders.
pub(crate) fn command() -> Command {
    let built = || env!("CARGO_BIN_EXE_cargo-rumpsteak").into();
    let mut command = Command::new(env::var_os("RUMPSTEAK_COMMAND").unwrap_or_else(built));
    for name in
        ["NO_COLOR", "CARGO_TERM_COLOR", "TERM", "CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"]
    {
        command.env_remove(name);
    }
    command
}

/// The result of one call.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Asserts the exit status; on failure shows everything.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Self {
        assert_eq!(
            self.status,
            Some(status),
            "\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn prints(self, stdout: &str) -> Self {
        assert_eq!(self.stdout, stdout, "\n--- stderr\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, stderr: &str) -> Self {
        assert_eq!(self.stderr, stderr, "\n--- stdout\n{}", self.stdout);
        self
    }

    /// Standard output as the one JSON object that it must be.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value @ Value::Object(_)) => value,
            other => panic!("no JSON object: {other:?}\n{}", self.stdout),
        }
    }
}
