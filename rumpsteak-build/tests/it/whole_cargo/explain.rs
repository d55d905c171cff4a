//! The programs of the pages of `explain` compile if the page accepts them. The galleries show that
//! the rest of a page is so.
//!
//! One page of each group, or all of them with `RUMPSTEAK_MISTAKES=all`.

use rumpsteak_build::command::explanations;

use super::harness::{Package, VERIFIES, manifest};
use crate::support::{Files, explained};

#[test]
fn what_a_page_accepts_compiles() {
    let goes_all = std::env::var_os("RUMPSTEAK_MISTAKES").is_some_and(|value| value == "all");
    let package = Package::new("example");
    let mut groups = Vec::new();
    for (code, text) in explanations().filter(|(code, _)| code.starts_with('V')) {
        let group = &code[..3];
        if groups.contains(&group) && !goes_all {
            continue;
        }
        groups.push(group);
        let [refused, accepted] = explained(text);
        let check = |files: &Files<'_>| {
            for (file, text) in files {
                package.write(file, text);
            }
            let outcome = package.check(&[]);
            for (file, _) in files {
                match *file {
                    "build.rs" => package.write(file, VERIFIES),
                    "Cargo.toml" => package.write(file, &manifest("example")),
                    _ => package.remove(file),
                };
            }
            outcome
        };
        if code.starts_with("V07") {
            let outcome = check(&refused);
            assert!(!outcome.success, "{code}: {}", outcome.show());
        }
        let outcome = check(&accepted);
        assert!(outcome.success, "{code}:\n{}", outcome.show());
    }
}
