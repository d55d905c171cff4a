//! Errors in protocol files, and protocols and roles that nobody uses.

use super::harness::{IMPORTS, KERNEL, OTHERS, Package, ROLES};
use crate::support::{PROTOCOL, says};

fn misspelt(name: &str) -> Package {
    let package = Package::new(name);
    package.edit(
        "protocols/double_buffering.scr",
        "value(i32) from s to k;",
        "value(i32) form s to k;",
    );
    package.edit("src/lib.rs", super::harness::PROCESS, "");
    package
}

const EXCERPT: &str = "4 |     value(i32) form s to k;";

#[test]
fn a_syntax_error_is_shown_at_a_role_of_the_protocol() {
    let package = misspelt("scr-role");
    // The sessions, which have no verdict, say nothing of it.
    package
        .check(&[])
        .error()
        .is_at("src/lib.rs", "DoubleBuffering")
        .says("protocols/double_buffering.scr:4")
        .says(EXCERPT);

    package.write("protocols/double_buffering.scr", PROTOCOL);
    package.check(&[]).passes();
}

#[test]
fn a_syntax_error_is_shown_where_the_source_includes_the_protocols() {
    let package = misspelt("scr-include");
    let text = package.read("src/lib.rs");
    package.write("src/lib.rs", &format!("{text}\nrumpsteak_runtime::include_protocols!();\n"));
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    let errors = outcome.errors();
    let Some(error) = errors.iter().find(|error| error.text.contains(EXCERPT)) else {
        panic!("{}", outcome.show());
    };
    error.is_at("src/lib.rs", "rumpsteak_runtime::include_protocols!()");

    package.write("protocols/double_buffering.scr", PROTOCOL);
    package.check(&[]).passes();
}

#[test]
fn without_either_the_script_reports_it_and_fails() {
    let package = misspelt("scr-stderr");
    package.write("src/lib.rs", "");
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    assert!(outcome.errors().is_empty());
    says(&outcome.stderr, EXCERPT);
    says(&outcome.stderr, "(exit status: 1)");
}

#[test]
fn a_returned_report_is_readable() {
    let package = misspelt("scr-result");
    package.write("src/lib.rs", "");
    package.write(
        "build.rs",
        "fn main() -> Result<(), rumpsteak_build::Report> {
            rumpsteak_build::configure().protocols(\"protocols\").verify().map(drop)
        }",
    );
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    says(&outcome.stderr, EXCERPT);
}

#[test]
fn all_errors_of_a_file_are_shown_in_one_build() {
    let package = misspelt("scr-several");
    package.edit("protocols/double_buffering.scr", "ready() from t to k;", "ready() from u to k;");
    package.edit(
        "protocols/double_buffering.scr",
        "value(i32) form s to k;",
        "value(i32) from s to kk;",
    );
    let outcome = package.check(&[]);
    outcome.errors()[0]
        .says("value(i32) from s to kk;")
        .says("ready() from u to k;")
        .says("2 errors in");
}

#[test]
fn a_missing_folder_is_said() {
    let package = Package::new("scr-missing");
    package.remove("protocols/double_buffering.scr");
    std::fs::remove_dir(package.path("protocols")).unwrap();
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    says(&outcome.stderr, "cannot read the protocols in `protocols`");
}

#[test]
fn a_protocol_that_no_role_plays_and_a_role_without_a_session() {
    let package = Package::new("scr-unused");
    package
        .write("protocols/idle.scr", "global protocol Idle(role a, role b) { m() from a to b; }");
    package.write("src/lib.rs", &[IMPORTS, ROLES, OTHERS].join("\n"));
    let outcome = package.check(&[]);
    outcome.passes();
    let warning = |text: &str| {
        outcome.stderr.lines().any(|line| line.starts_with("warning") && line.contains(text))
    };
    assert!(warning("protocols/idle.scr: no role plays the protocol `Idle`"), "{}", outcome.stderr);
    assert!(warning("no session of the role `K` (DoubleBuffering::k)"), "{}", outcome.stderr);
    assert!(!warning("no session of the role `S`"), "{}", outcome.stderr);

    package.write("src/lib.rs", &[IMPORTS, ROLES, OTHERS, KERNEL].join("\n"));
    std::fs::remove_file(package.path("protocols/idle.scr")).unwrap();
    let outcome = package.check(&[]);
    outcome.passes();
    assert!(
        !outcome.stderr.contains("no session of") && !outcome.stderr.contains("no role plays"),
        "{}",
        outcome.stderr
    );
}
