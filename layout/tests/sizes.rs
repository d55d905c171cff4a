//! How long the source may be: altogether, a module, a function, and a line of a comment.

#![allow(clippy::print_stdout, reason = "the table is shown")]

use std::{collections::BTreeMap, fs, path::PathBuf};

use rumpsteak_layout::{
    Lines, Package, Tree, UNFINISHED, comment_lines_over, lines, packages, root,
};

/// Lines of `src` without tests, comments included, of the published packages.
const PRODUCT: usize = 40_000;
/// Lines of tests: of the published packages, and all of the packages that exist for tests only.
const TESTS: usize = 30_000;
/// Lines of a module without its tests.
const MODULE: usize = 700;
/// Lines of a function, unless its documentation has a sentence that begins with "Long because".
const FUNCTION: usize = 80;
/// Columns of a line of a comment.
const COMMENT: usize = 100;

const PUBLISHED: [&str; 7] = [
    "build",
    "cargo-rumpsteak",
    "contract",
    "fsm",
    "macros",
    "runtime",
    "scribble",
];
const FOR_TESTS: [&str; 3] = ["layout", "oracle", "ui-tests"];

#[test]
fn the_source_is_not_longer_than_agreed() {
    println!("{:<16} {:>8} {:>8}", "", "product", "tests");
    let (mut product, mut tests) = (0, 0);
    for package in packages() {
        let name = package.name.as_str();
        if PUBLISHED.contains(&name) || FOR_TESTS.contains(&name) {
            let lines = measure(&package);
            let own_product: usize = lines.values().map(|lines| lines.product).sum();
            let own_tests: usize = lines.values().map(|lines| lines.test).sum();
            println!("{name:<16} {own_product:>8} {own_tests:>8}");
            product += own_product;
            tests += own_tests;
        }
    }
    println!("{:<16} {product:>8} {tests:>8}", "together");
    let is_agreed = product <= PRODUCT && tests <= TESTS;
    assert!(is_agreed || !UNFINISHED.is_empty(), "{product}, {tests}");
}

#[test]
fn modules_and_functions_are_short() {
    check(|package| {
        let mut wrong = Vec::new();
        for (path, lines) in measure(package) {
            if lines.product > MODULE {
                wrong.push((
                    path.clone(),
                    1,
                    format!("a module of {} lines", lines.product),
                ));
            }
            for function in lines.functions {
                if function.length > FUNCTION && !function.has_reason {
                    let text = format!("`{}` has {} lines", function.name, function.length);
                    wrong.push((path.clone(), function.line, text));
                }
            }
        }
        wrong
    });
}

#[test]
fn comments_are_narrow() {
    check(|package| {
        let mut wrong = Vec::new();
        for path in package.files() {
            let text = fs::read_to_string(&path).unwrap_or_default();
            for (line, length) in comment_lines_over(&text, COMMENT) {
                wrong.push((path.clone(), line, format!("a comment of {length} columns")));
            }
        }
        wrong
    });
}

/// Shows what is wrong in each package, and fails for the finished ones.
fn check(wrong: impl Fn(&Package) -> Vec<(PathBuf, usize, String)>) {
    let root = root();
    let mut failures = Vec::new();
    for package in packages() {
        for (path, line, text) in wrong(&package) {
            let path = path.strip_prefix(&root).unwrap_or(&path);
            let text = format!("{}:{line}: {text}", path.display());
            println!("{text}");
            if !UNFINISHED.contains(&package.name.as_str()) {
                failures.push(text);
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The lines of a package, by file.
fn measure(package: &Package) -> BTreeMap<PathBuf, Lines> {
    let mut files = BTreeMap::new();
    if PUBLISHED.contains(&package.name.as_str()) {
        let is_product = |kind: &str| matches!(kind, "lib" | "bin" | "proc-macro");
        let targets = package.targets.iter();
        for target in targets.filter(|target| is_product(&target.kind)) {
            for file in Tree::read(&target.root).files {
                files.insert(file.path, lines(&file.text));
            }
        }
    }
    for path in package.files() {
        files.entry(path).or_insert_with_key(|path| Lines {
            test: fs::read_to_string(path).map_or(0, |text| text.lines().count()),
            ..Lines::default()
        });
    }
    files
}
