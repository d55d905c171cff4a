//! The packages of README, exactly as they stand there: they run and print what README says.

use std::fs;

use super::harness::{Package, dependency, workspace};
use crate::support::says;

pub(super) struct Block<'a> {
    pub(super) section: &'a str,
    pub(super) fence: &'a str,
    /// The name in backticks that begins the line above, if the block is a file.
    file: Option<&'a str>,
    pub(super) code: String,
}

pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut section, mut above) = (Vec::new(), "", "");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(fence) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let name = above.strip_prefix('`').and_then(|rest| rest.split_once('`'));
            let file = name.map(|(name, _)| name).filter(|name| {
                name.ends_with(".rs") || name.contains('/') || name.ends_with(".toml")
            });
            blocks.push(Block { section, fence, file, code: format!("{}\n", body.join("\n")) });
        } else if !line.trim().is_empty() {
            above = line;
            section = line.strip_prefix("## ").unwrap_or(section);
        }
    }
    blocks
}

pub(super) fn example(name: &str, section: &str) -> (Package, Vec<String>) {
    let package = Package::bare(name);
    let mut files = Vec::new();
    for Block { file, code, .. } in blocks(section) {
        let Some(file) = file else { continue };
        let text = match file {
            // The folder is below the folder of this workspace, and no part of it.
            "Cargo.toml" => format!("{}\n[workspace]\nresolver = \"3\"\n", manifest(name, &code)),
            _ => code,
        };
        package.write(file, &text);
        files.push(file.to_owned());
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

fn trimmed(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

fn readme() -> String {
    fs::read_to_string(workspace().join("README.md")).unwrap()
}

/// The codes of the blocks of a section of README; the section before the first has no title.
fn codes(title: &str) -> Vec<String> {
    let readme = readme();
    let own = blocks(&readme).into_iter().filter(|block| block.section == title);
    own.map(|block| block.code).collect()
}

/// The package of "Start here". Manifest and build script, which `init` writes, are those of the
/// program with the mistakes.
pub(super) fn start(name: &str) -> Package {
    let (files, _) = include_str!("mistakes.md").split_once("`protocols/jobs.scr`").unwrap();
    let readme = readme();
    let (_, section) = readme.split_once("\n## Start here\n").unwrap();
    example(name, &format!("{files}{section}")).0
}

/// Runs the package, which prints the last block of "Start here".
#[track_caller]
fn prints(package: &Package) {
    let (success, printed, said) = package.run("run", &[]);
    assert!(success && !said.contains("warning"), "{said}");
    assert_eq!(Some(printed), codes("Start here").pop());
}

#[track_caller]
fn fails(package: &Package, message: &str) {
    let (success, _, said) = package.run("build", &[]);
    assert!(!success);
    says(&trimmed(&said), &trimmed(message));
}

#[test]
fn the_program_of_the_readme_runs() {
    prints(&start("readme-start"));
}

#[test]
fn the_protocol_of_the_readme_is_refused_and_its_repair_is_accepted() {
    let package = start("readme-protocol");
    let [protocol, message] = &codes("")[..] else { panic!("two blocks") };
    package.write("protocols/orders.scr", protocol);
    let module = "#[rumpsteak::protocol(Orders)]\npub mod orders {}\n";
    package.write("src/main.rs", &format!("{}{module}", package.read("src/main.rs")));
    fails(&package, message);
    let (last, repair) = ("declined() from bank to shop;", "rejected() from shop to client;");
    says(&readme(), &format!("With `{repair}`"));
    package.edit("protocols/orders.scr", last, &format!("{last} {repair}"));
    prints(&package);
}

#[test]
fn the_faster_order_of_the_readme_runs_and_its_mistake_is_refused() {
    let package = start("readme-faster");
    let [code, message] = &codes("Make it faster")[..] else { panic!("two blocks") };
    let (module, client) = code.split_once("\n\n").unwrap();
    let program = package.read("src/main.rs");
    let (before, behind) = program.split_once("async fn client").unwrap();
    let (_, behind) = behind.split_once("\n\n").unwrap();
    let before = before.replace("#[rumpsteak::protocol(Jobs)]\nmod jobs {}", module);
    package.write("src/main.rs", &format!("{before}{client}\n{behind}"));
    prints(&package);

    let wrong = "Stop(Stop, End)";
    says(&readme(), &format!("`{wrong}`"));
    package.edit("src/main.rs", "Stop(Stop, Receive<Worker, Done, End>)", wrong);
    fails(&package, message);
}
