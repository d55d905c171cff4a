//! No module imports from a module that imports from it, directly or through others. A module is a file here.

#![allow(clippy::print_stdout, reason = "the cycles that are known are shown")]

use std::fmt::Write;

use rumpsteak_layout::{Tree, UNFINISHED, cycles, packages, root};

#[test]
fn no_module_imports_from_itself_through_others() {
    let root = root();
    let mut failures = String::new();
    for package in packages() {
        for target in package
            .targets
            .iter()
            .filter(|target| target.kind != "test")
        {
            for cycle in cycles(&Tree::read(&target.root)) {
                let cycle = cycle
                    .to_string()
                    .replace(&format!("{}/", root.display()), "");
                println!("import cycle in {}:\n{cycle}", package.name);
                if !UNFINISHED.contains(&package.name.as_str()) {
                    let _ = writeln!(failures, "{}:\n{cycle}", package.name);
                }
            }
        }
    }
    assert!(failures.is_empty(), "import cycles:\n{failures}");
}
