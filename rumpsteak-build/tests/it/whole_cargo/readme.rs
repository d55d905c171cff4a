//! README's program, exactly as it stands there: it runs and prints what README says, also in the
//! faster order, whose mistake gives README's message.

use std::fs;

use super::harness::{Package, workspace};
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

/// The package of the complete example, with the names of its files.
pub(super) fn example(name: &str, section: &str) -> (Package, Vec<String>) {
    let package = Package::bare(name);
    let blocks = blocks(section);
    let mut files = Vec::new();
    for (file, text) in &blocks {
        let Some(file) = file else { continue };
        files.push(file.clone());
        let text = match file.as_str() {
            "Cargo.toml" => {
                let clone = workspace().display().to_string().replace('\\', "/");
                let manifest = text.replace("../rumpsteak/", &format!("{clone}/"));
                // Packages of one name have one place in the target folder.
                let own = format!("name = {:?}", package.name());
                let named = ["jobs", "mistakes"].map(|name| format!("name = {name:?}"));
                let manifest =
                    named.iter().fold(manifest, |manifest, named| manifest.replace(named, &own));
                // The folder is below that of this workspace, and no part of it. Without an edition
                // Cargo had features of before 2021, and compiled all dependencies for them.
                format!("{manifest}\n[workspace]\nresolver = \"3\"\n")
            }
            _ => text.clone(),
        };
        package.write(file, &text);
    }
    (package, files)
}

/// Runs the package, and compares what it prints with the last block of the section.
#[track_caller]
fn prints(package: &Package, section: &str) {
    let (success, printed, said) = package.run("run");
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
    let (success, _, said) = package.run("build");
    assert!(!success);
    says(&trimmed(&said), trimmed(diagnostic).trim_end());
}
