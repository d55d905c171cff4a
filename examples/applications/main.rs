//! Each application over each transport, its roles in processes of their own.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

mod faults;

use std::path::{Path, PathBuf};
use std::process::Command;

/// An application: its program, its roles, and its output at the end.
type Application = (&'static str, &'static [&'static str], &'static str);

const APPLICATIONS: [Application; 7] = [
    (
        "chat",
        &["server", "ann", "bob", "cy"],
        "ann whispers to cy: question 0 answered, question 1 answered, question 2 answered\n",
    ),
    ("file_transfer", &["client", "server"], "the files are as they were\n"),
    ("jacobi", &["m", "a", "b"], "900 points after 591 rounds, as one process has them\n"),
    (
        "jacobi_workers",
        &["m", "worker[0]", "worker[1]", "worker[2]"],
        "900 points after 591 rounds, as one process has them\n",
    ),
    ("n_body", &["a", "b", "c"], "60 bodies after 200 steps, as one process has them\n"),
    (
        "n_body_workers",
        &["m", "worker[0]", "worker[1]", "worker[2]"],
        "60 bodies after 200 steps, as one process has them\n",
    ),
    (
        "portal",
        &["user", "portal", "squares", "sums"],
        "the numbers up to 999 are 499500 in all, their squares 332833500\n",
    ),
];

/// The applications. `cargo test` builds the examples before this test, unless it builds this test
/// alone.
fn applications() -> impl Iterator<Item = (PathBuf, Application)> {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap().join("examples");
    APPLICATIONS.into_iter().filter_map(move |application| {
        let program = folder.join(application.0).with_extension(std::env::consts::EXE_EXTENSION);
        if !program.exists() {
            println!("skipped: `{}` was not built", application.0);
        }
        program.exists().then_some((program, application))
    })
}

#[test]
fn every_application_runs_over_every_transport() {
    for transport in ["memory", "tcp", "unix", "tls", "ws", "wss", "quic"] {
        run_all(applications(), &["--transport", transport]);
    }
}

#[test]
fn a_session_is_given_to_a_server_over_another_transport() {
    for (user, servers) in [("tcp", "tls"), ("wss", "unix"), ("unix", "ws")] {
        run_all(portal(), &["--transport", user, "--servers", servers]);
    }
}

/// The application whose sessions move between processes.
fn portal() -> impl Iterator<Item = (PathBuf, Application)> {
    applications().filter(|(_, (name, ..))| *name == "portal")
}

fn run_all(applications: impl Iterator<Item = (PathBuf, Application)>, arguments: &[&str]) {
    for (program, (name, _, expected)) in applications {
        let output = Command::new(&program).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name} {arguments:?}: {output:?}");
        assert_eq!(text, expected, "{name} {arguments:?}");
    }
}
