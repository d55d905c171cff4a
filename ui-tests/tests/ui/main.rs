//! The mistakes in `ui/`, one in each file, and what rustc says about each.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test -p rumpsteak-ui-tests --test ui`, then
//! read what changed. With another compiler than that of `rust-toolchain.toml` the test fails,
//! unless `RUMPSTEAK_UI=skip` is set.

mod target_folder;

use std::env;
use std::path::Path;
use std::process::Command;

/// The messages around ours are rustc's own and change with its version.
const RECORDED_WITH: &str = "rustc 1.95.";

/// As `[profile.dev]` of this workspace has it.
const PROFILE: (&str, &str) = ("CARGO_PROFILE_DEV_DEBUG", "none");

#[test]
fn mistakes_do_not_compile() {
    if env::var_os("RUMPSTEAK_UI").is_some_and(|value| value == "skip") {
        return;
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    assert!(
        version.starts_with(RECORDED_WITH),
        "the messages were recorded with {RECORDED_WITH}x, this is {version}; \
         set RUMPSTEAK_UI=skip to do without this test"
    );
    // The inner cargo inherits OUT_DIR, where the verdicts are, from `cargo test`. A test binary
    // that is run by hand has none, and each case would say so instead of what it is about.
    assert!(env::var_os("OUT_DIR").is_some(), "run this test through `cargo test`");
    // What build scripts and macros depend on is compiled for this test as for this workspace: with
    // one profile.
    // Only a process of one's own has another environment.
    if env::var_os(PROFILE.0).is_none_or(|value| value != PROFILE.1) {
        let own = Command::new(env::current_exe().unwrap())
            .args(["--exact", "mistakes_do_not_compile", "--nocapture"])
            .env(PROFILE.0, PROFILE.1)
            .status();
        assert!(own.unwrap().success(), "see above");
        return;
    }
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    target_folder::take(&temporary.join(".."), &temporary.join("../tests/trybuild"));
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
