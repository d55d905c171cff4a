//! What the pages of `explain` accept compiles, and the macros refuse what they say that they do.
//! That the rest of a page is so, the galleries show.

use std::fs;

use rumpsteak_build::command::explanations;

use super::harness::Package;
use crate::support::{Files, explained};

/// What the build script is where a page does not say it.
const BUILD_SCRIPT: &str = "\
fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure().protocols(\"protocols\").generate().verify()?;
    Ok(())
}
";

#[test]
fn what_a_page_accepts_compiles_and_what_the_macros_refuse_does_not() {
    // One package: each page is an edit, a check, and the edit taken back.
    let package = Package::empty("example");
    package.edit("Cargo.toml", "name = \"tested\"", "name = \"example\"");
    for (code, text) in explanations().filter(|(code, _)| code.starts_with('V')) {
        let [refused, accepted] = explained(text);
        let check = |files: &Files<'_>| {
            let own = files.iter().find(|(file, _)| *file == "build.rs");
            let script = own.map_or(BUILD_SCRIPT, |(_, text)| text);
            let files = || files.iter().filter(|(file, _)| *file != "build.rs");
            // A build script that is written again is compiled again.
            if fs::read_to_string(package.path("build.rs")).ok().as_deref() != Some(script) {
                package.write("build.rs", script);
            }
            for (file, text) in files() {
                package.write(file, text);
            }
            let (success, _, said) = package.run_with("check", &["-q"]);
            for (file, _) in files() {
                package.remove(file);
            }
            (success, said)
        };
        if code.starts_with("V07") {
            let (success, said) = check(&refused);
            assert!(!success && said.contains(&format!(" [{code}]")), "{code}:\n{said}");
        }
        let (success, said) = check(&accepted);
        assert!(success, "{code}:\n{said}");
    }
}
