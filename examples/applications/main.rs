//! Each application over each transport, its roles in processes of their own.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use std::path::Path;
use std::process::Command;

/// `cargo test` builds the examples before this test, unless it is told to build this test alone.
#[test]
fn every_application_runs_over_every_transport() {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap().join("examples");
    let program = folder.join("jacobi").with_extension(std::env::consts::EXE_EXTENSION);
    if !program.exists() {
        println!("skipped: `jacobi` was not built");
        return;
    }
    for transport in ["memory", "tcp", "unix", "tls", "ws", "wss", "quic"] {
        let output = Command::new(&program).args(["--transport", transport]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{transport}: {output:?}");
        assert_eq!(text, "900 points after 591 rounds, as one process has them\n", "{transport}");
    }
}
