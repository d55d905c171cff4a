//! What the pages of `explain` accept compiles. That the rest of a page is so, the galleries show.

use rumpsteak_build::command::explanations;

use super::harness::Package;
use crate::support::explained;

/// What the build script is where a page does not say it.
const BUILD_SCRIPT: &str = "\
fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure().protocols(\"protocols\").generate().verify()?;
    Ok(())
}
";

#[test]
fn what_a_page_accepts_compiles() {
    // One package: each page is an edit, a check, and the edit taken back.
    let package = Package::empty("example");
    for (code, text) in explanations().filter(|(code, _)| code.starts_with('V')) {
        let [_, files] = explained(text);
        package.write("build.rs", BUILD_SCRIPT);
        for (file, text) in &files {
            package.write(file, text);
        }
        let (success, _, said) = package.run_with("check", &["-q"]);
        assert!(success, "{code}:\n{said}");
        for (file, _) in files {
            package.remove(file);
        }
    }
}
