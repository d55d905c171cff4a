//! The mistakes in `ui/`, one in each file, and what rustc says about each.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test -p rumpsteak-ui-tests --test ui`, then
//! read what changed.

use std::process::Command;

/// The messages around ours are rustc's own and change with its version.
const RECORDED_WITH: &str = "rustc 1.95.";

#[test]
fn mistakes_do_not_compile() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    if !version.starts_with(RECORDED_WITH) {
        println!("skipped: the messages were recorded with {RECORDED_WITH}x, this is {version}");
        return;
    }
    // The inner cargo inherits OUT_DIR, where the verdicts are, from `cargo test`. A test binary that
    // is run by hand has none, and each case would say so instead of what it is about.
    assert!(
        std::env::var_os("OUT_DIR").is_some(),
        "run this test through `cargo test`"
    );
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
