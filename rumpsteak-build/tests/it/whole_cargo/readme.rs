//! The packages of README, exactly as they stand there: they run and print what README says.

use std::fs;

use super::harness::{Package, dependency, workspace};
use crate::support::says;

/// The blocks of code of a text, each with the file that it is: the name in backticks that begins
/// the line above it.
pub(super) fn blocks(text: &str) -> Vec<(Option<String>, String)> {
    let mut blocks = Vec::new();
    let mut above = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let name = above.strip_prefix('`').and_then(|rest| rest.split_once('`')).filter(
                |(name, _)| name.ends_with(".rs") || name.contains('/') || name.ends_with(".toml"),
            );
            blocks.push((name.map(|(name, _)| name.to_owned()), format!("{}\n", body.join("\n"))));
        } else if !line.trim().is_empty() {
            above = line;
        }
    }
    blocks
}

/// The package in a text, with the names of its files.
pub(super) fn example(name: &str, section: &str) -> (Package, Vec<String>) {
    let package = Package::bare(name);
    let mut files = Vec::new();
    for (file, text) in blocks(section) {
        let Some(file) = file else { continue };
        let text = match file.as_str() {
            // The folder is below the folder of this workspace, and no part of it.
            "Cargo.toml" => format!("{}\n[workspace]\nresolver = \"3\"\n", manifest(name, &text)),
            _ => text,
        };
        package.write(&file, &text);
        files.push(file);
    }
    (package, files)
}

/// A manifest with the paths of this workspace. Packages of one name would have one place in the
/// target folder.
fn manifest(name: &str, text: &str) -> String {
    let parts = ["runtime", "build", "runtime/net"].iter();
    let text = parts.fold(text.to_owned(), |text, part| {
        let own = dependency(&format!("rumpsteak-{part}"));
        let own = own.trim_start_matches("{ ").trim_end_matches(" }");
        text.replace(&format!("path = \"../rumpsteak/rumpsteak-{part}\""), own)
    });
    let (before, rest) = text.split_once("name = \"").unwrap();
    let (_, rest) = rest.split_once('"').unwrap();
    format!("{before}name = {name:?}{rest}")
}

/// The text without blanks at the ends of its lines.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// A section of the README.
pub(super) fn section(readme: &str, title: &str) -> String {
    let begin = format!("\n## {title}\n");
    let Some((_, section)) = readme.split_once(&begin) else {
        panic!("the README has no section \"{title}\"");
    };
    let end = section.find("\n## ").unwrap_or(section.len());
    section[..end].to_owned()
}

/// Runs the package, and compares what it prints with the last block of the section.
#[track_caller]
fn prints(package: &Package, section: &str) {
    let (success, printed, said) = package.run("run", &[]);
    assert!(success, "{said}");
    assert!(!said.contains("warning"), "{said}");
    let Some((None, expected)) = blocks(section).pop() else {
        panic!("the last block is what the program prints")
    };
    assert_eq!(printed, expected);
}

#[test]
fn the_program_of_the_readme_runs() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let section = section(&readme, "Start here");
    let (package, files) = example("readme-start", &section);
    assert_eq!(files, ["Cargo.toml", "protocols/jobs.scr", "build.rs", "src/main.rs"]);
    prints(&package, &section);
}

#[test]
fn the_faster_order_of_the_readme_runs_and_its_mistake_is_refused() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let start = section(&readme, "Start here");
    let (package, _) = example("readme-faster", &start);
    let faster = section(&readme, "Make it faster");
    let [(_, code), (_, diagnostic)] = &blocks(&faster)[..] else { panic!("two blocks") };
    let (module, client) = code.split_once("\n\n").unwrap();
    let program = package.read("src/main.rs");
    let (before, behind) = program.split_once("async fn client").unwrap();
    let (_, behind) = behind.split_once("\n\n").unwrap();
    let before = before.replace("#[rumpsteak::protocol(Jobs)]\nmod jobs {}", module);
    package.write("src/main.rs", &format!("{before}{client}\n{behind}"));
    prints(&package, &start);

    let right = "type TwoJobs = Send<Worker, Submit, Send<Worker, Submit, TwoAnswers>>;";
    let wrong = "type TwoJobs = Send<Worker, Submit, TwoAnswers>;";
    assert!(faster.contains(&format!("`{wrong}`")));
    package.edit("src/main.rs", right, wrong);
    let (success, _, said) = package.run("build", &[]);
    assert!(!success);
    says(&trimmed(&said), trimmed(diagnostic).trim_end());
}
