//! The packages of README, exactly as they stand there: they run and print what README says.

use std::fs;

use super::harness::{Package, dependency, workspace};

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
