//! The mistakes in `ui/`, one per file, and rustc's messages.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test -p rumpsteak-ui-tests --test ui`, then
//! read the difference. The messages belong to the compiler in `rust-toolchain.toml`. With another
//! one the test fails, unless `RUMPSTEAK_UI=skip` is set.

mod target_folder;

use std::env;
use std::path::Path;
use std::process::Command;

/// The toolchain of the recorded messages: rustc's own part changes with its version.
const RECORDED_WITH: &str = "rustc 1.95.";

/// The `[profile.dev]` of this workspace.
const PROFILE: (&str, &str) = ("CARGO_PROFILE_DEV_DEBUG", "none");

#[test]
fn mistakes_do_not_compile() {
    if env::var_os("RUMPSTEAK_UI").is_some_and(|value| value == "skip") {
        return;
    }
    let rustc = |argument| {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        String::from_utf8(Command::new(rustc).arg(argument).output().unwrap().stdout).unwrap()
    };
    let version = rustc("--version");
    assert!(
        version.starts_with(RECORDED_WITH),
        "the messages were recorded with {RECORDED_WITH}x, this is {version}; \
         set RUMPSTEAK_UI=skip to do without this test"
    );
    assert!(
        Path::new(rustc("--print=sysroot").trim()).join("lib/rustlib/src/rust").exists(),
        "rustc quotes its library only if it is there: run `rustup component add rust-src`"
    );
    // The inner cargo inherits OUT_DIR with the verdicts from `cargo test`. If the test binary is
    // run by hand, it has none, and every case would fail for that reason.
    assert!(env::var_os("OUT_DIR").is_some(), "run this test through `cargo test`");
    // Dependencies of build scripts and macros have one profile in this test and in the workspace,
    // so that they are compiled once. The variables can only be set for a child process.
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
