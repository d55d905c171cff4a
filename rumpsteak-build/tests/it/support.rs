//! Packages in folders, checked without Cargo, and what is said of texts.

use std::fs;
use std::path::{Path, PathBuf};

use rumpsteak_build::command::{Check, Problem};
use rumpsteak_build::{Limits, configure};
pub(crate) use rumpsteak_oracle::{DOUBLE_BUFFERING as PROTOCOL, begins, ends, says};

/// PPoPP'22, Fig. 4b: the kernel asks for a second value before it passes the first one on.
pub(crate) const OPTIMISED: &str = "\
digraph k {
  0 -> 1 [label=\"s!ready\"];
  1 -> 2 [label=\"s!ready\"];
  2 -> 3 [label=\"s?value(i32)\"];
  3 -> 4 [label=\"t?ready\"];
  4 -> 1 [label=\"t!value(i32)\"];
}
";

/// A package of the given files, in a folder of this name, with a manifest.
pub(crate) fn package(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    let name = folder.file_name().unwrap().display();
    let manifest = format!("[workspace]\n\n[package]\nname = \"{name}\"\n");
    for (file, text) in [("Cargo.toml", &*manifest)].iter().chain(files) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

pub(crate) type Files<'a> = Vec<(&'a str, &'a str)>;

/// The packages of an explanation that are refused and accepted. Each block is a file: that in the
/// line above it, or the usual one for its language. What is accepted has the files of what is
/// refused where it does not have its own.
pub(crate) fn explained(text: &str) -> [Files<'_>; 2] {
    let (_, programs) = text.split_once("\nRefused:\n").unwrap();
    let (refused, accepted) = programs.split_once("\nAccepted:\n").unwrap();
    let refused = blocks(refused);
    let mut all = blocks(accepted);
    let is_new = |file: &str| all.iter().all(|(other, _)| *other != file);
    let kept: Files<'_> = refused.iter().copied().filter(|(file, _)| is_new(file)).collect();
    all.extend(kept);
    [refused, all]
}

fn blocks(text: &str) -> Files<'_> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((before, block)) = rest.split_once("```") {
        let (language, body) = block.split_once('\n').unwrap();
        let (body, behind) = body.split_once("```").unwrap();
        let named = before.trim().strip_prefix('`').and_then(|name| name.strip_suffix('`'));
        let usual = if language == "scribble" { "protocols/p.scr" } else { "src/lib.rs" };
        blocks.push((named.unwrap_or(usual), body));
        rest = behind;
    }
    blocks
}

/// Checks a package whose protocols are in the folder `protocols`, if it has some.
pub(crate) fn check(folder: &Path) -> Check {
    check_with(folder, &Limits::default())
}

pub(crate) fn check_with(folder: &Path, limits: &Limits) -> Check {
    let configuration = match folder.join("protocols").exists() {
        true => configure().protocols("protocols"),
        false => configure(),
    };
    configuration.check(folder, limits)
}

/// Checks a package of these files, in a folder of this name.
pub(crate) fn check_files(name: &str, files: &[(&str, &str)]) -> Check {
    check(&package(name, files))
}

/// Checks a package of this protocol and a module, whose attribute has these arguments, with these
/// items on lines of their own.
pub(crate) fn check_module(name: &str, protocol: &str, arguments: &str, items: &str) -> Check {
    let source = format!("#[rumpsteak::protocol({arguments})] mod m {{\n{items}\n}}\n");
    check_files(name, &[("protocols/p.scr", protocol), ("src/lib.rs", &source)])
}

pub(crate) fn headlines(check: &Check) -> Vec<String> {
    let headline = |problem: &Problem| {
        let headline = problem.text.lines().next().unwrap_or_default();
        format!("{}:{}: {headline}", problem.line, problem.column)
    };
    check.problems.iter().map(headline).collect()
}

#[track_caller]
pub(crate) fn only(check: &Check) -> &Problem {
    match &check.problems[..] {
        [problem] => problem,
        problems => panic!("{problems:?}"),
    }
}
