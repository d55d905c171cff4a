//! Checks of the source tree: no import cycles between modules, and nothing longer than agreed.
//!
//! `cargo test -p rumpsteak-layout -- --nocapture` shows the sizes, too.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the table is shown, and in a test an unwrap is an assertion"
)]

mod english;
mod imports;
mod lines;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use lines::Lines;
use tree::{Package, Tree, packages};

const PUBLISHED: &str =
    "build cargo-rumpsteak front fsm net optimise runtime runtime-macros scribble";
const FOR_TESTS: [&str; 5] = ["fsm-tests", "fuzz", "layout", "oracle", "ui-tests"];

/// Lines of `src` without tests, comments included, of the published packages: to be lowered with
/// what is removed.
const PRODUCT: usize = 61_177;
/// Lines of tests, of the published packages and of those that exist for tests only: likewise.
const TESTS: usize = 36_778;
/// Lines of a module without its tests.
const MODULE: usize = 700;
/// Lines of a function, unless its documentation has a sentence that begins with "Long because".
const FUNCTION: usize = 80;
/// Columns of a line of a comment.
const COMMENT: usize = 100;

#[test]
fn a_cycle_is_found_through_a_facade() {
    let folder = env::temp_dir().join(format!("rumpsteak-layout-{}", process::id()));
    fs::create_dir_all(folder.join("room")).unwrap();
    let root = folder.join("lib.rs");
    fs::write(&root, "mod room;\nmod user;\n").unwrap();
    fs::write(folder.join("room/mod.rs"), "mod item;\npub use item::Item;\n").unwrap();
    fs::write(folder.join("user.rs"), "use crate::room::Item;\npub struct User(Item);\n").unwrap();
    let cycles = |item: &str| {
        fs::write(folder.join("room/item.rs"), item).unwrap();
        imports::cycles(&Tree::read(&root))
    };
    // The facade names its own modules, and tests may name anything.
    assert_eq!(
        cycles("pub struct Item;\n#[cfg(test)]\nmod tests { use crate::user::User; }\n"),
        [""; 0]
    );
    let [cycle] = &*cycles("pub struct Item(Box<crate::user::User>);\n") else {
        panic!("one cycle")
    };
    for edge in ["item.rs → ", "user.rs: User", "user.rs → ", "item.rs: Item"] {
        assert!(cycle.contains(edge), "{cycle}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn no_module_imports_from_itself_through_others() {
    check(|package| {
        let targets = package.targets.iter().filter(|(kind, _)| kind != "test");
        let cycles = targets.flat_map(|(_, root)| imports::cycles(&Tree::read(root)));
        cycles.map(|cycle| format!("import cycle in {}:{cycle}", package.name)).collect()
    });
}

#[test]
fn modules_and_functions_are_short() {
    check(|package| {
        let mut wrong = Vec::new();
        for (path, lines) in &MEASURED[&package.name] {
            let path = path.display();
            if lines.product > MODULE {
                wrong.push(format!("{path}: a module of {} lines", lines.product));
            }
            for (name, line, length) in &lines.functions {
                if *length > FUNCTION {
                    wrong.push(format!("{path}:{line}: `{name}` has {length} lines"));
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
            let mut is_code = false;
            for (line, number) in fs::read_to_string(&path).unwrap().lines().zip(1..) {
                let columns = line.chars().count();
                let Some(comment) = line.trim_start().strip_prefix("//") else {
                    is_code = false;
                    continue;
                };
                is_code ^= comment.trim_start_matches(['/', '!', ' ']).starts_with("```");
                // Neither code nor a row of a table can be broken.
                if columns > COMMENT && !is_code && !line.ends_with('|') {
                    let path = path.display();
                    wrong.push(format!("{path}:{number}: a comment of {columns} columns"));
                }
            }
        }
        wrong
    });
}

#[test]
fn the_english_is_plain() {
    let wrong = english::wrong(&tree::root());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_source_is_not_longer_than_agreed() {
    println!("{:<16} {:>8} {:>8}", "", "product", "tests");
    let (mut product, mut tests) = (0, 0);
    let packages = packages();
    let is_there = |name: &str| packages.iter().any(|package| package.name == name);
    assert!(PUBLISHED.split(' ').chain(FOR_TESTS).all(is_there));
    for package in &packages {
        let name = package.name.as_str();
        if PUBLISHED.split(' ').any(|it| it == name) || FOR_TESTS.contains(&name) {
            let lines = &MEASURED[name];
            let own_product: usize = lines.values().map(|lines| lines.product).sum();
            let own_tests: usize = lines.values().map(|lines| lines.test).sum();
            println!("{name:<16} {own_product:>8} {own_tests:>8}");
            product += own_product;
            tests += own_tests;
        }
    }
    println!("{:<16} {product:>8} {tests:>8}", "together");
    assert!(product <= PRODUCT, "{product} lines of the product");
    assert!(tests <= TESTS, "{tests} lines of tests");
}

/// Fails with all that is wrong in any package.
fn check(wrong: impl Fn(&Package) -> Vec<String>) {
    let root = format!("{}/", tree::root().display());
    let mut failures = Vec::new();
    for package in packages() {
        for text in wrong(&package) {
            failures.push(text.replace(&root, ""));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The lines of each package, once for all tests.
static MEASURED: LazyLock<BTreeMap<String, BTreeMap<PathBuf, Lines>>> = LazyLock::new(|| {
    packages().iter().map(|package| (package.name.clone(), measure(package))).collect()
});

/// The lines of a package, by file.
fn measure(package: &Package) -> BTreeMap<PathBuf, Lines> {
    let mut files = BTreeMap::new();
    if PUBLISHED.split(' ').any(|it| it == package.name) {
        let is_product = |kind: &str| matches!(kind, "lib" | "bin" | "proc-macro");
        let targets = package.targets.iter();
        for (_, root) in targets.filter(|(kind, _)| is_product(kind)) {
            for (path, text) in Tree::read(root).files {
                files.insert(path, Lines::of(&text));
            }
        }
    }
    for path in package.files() {
        files.entry(path).or_insert_with_key(|path| Lines {
            test: fs::read_to_string(path).unwrap().lines().count(),
            ..Lines::default()
        });
    }
    files
}
