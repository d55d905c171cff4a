//! The README's example, exactly as it stands there: it runs and prints what the README says, and
//! its mistake gives the message that the README begins with.

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
                let manifest = ["runtime", "build", "runtime/net"].iter();
                let manifest = manifest.fold(text.clone(), |text, part| {
                    let name = format!("rumpsteak-{part}");
                    let beside = format!("{{ path = \"../rumpsteak/{name}\" }}");
                    text.replace(&beside, &dependency(&name))
                });
                // Packages of one name have one place in the target folder.
                let own = format!("name = {:?}", package.name());
                let named = ["jobs", "mistakes", "pipeline"].map(|name| format!("name = {name:?}"));
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

/// What the example prints, in each workflow.
#[track_caller]
fn prints(package: &Package, section: &str) {
    let (success, printed, said) = package.run("run");
    assert!(success, "{said}");
    assert!(!said.contains("warning"), "{said}");
    let Some((None, expected)) = blocks(section).pop() else {
        panic!("the last block is what the example prints")
    };
    assert_eq!(printed, expected);
}

#[test]
fn the_example_of_the_readme_runs_and_its_mistake_is_refused() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let (_, diagnostic) = &blocks(&readme)[0];
    let section = &section(&readme, "A complete example");
    let (package, files) = example("readme", section);
    assert_eq!(files, ["Cargo.toml", "protocols/double_buffering.scr", "build.rs", "src/main.rs"]);

    prints(&package, section);

    // The mistake.
    let mistake = "type Kernel = KernelLoop;";
    assert!(section.contains(&format!("`{mistake}`")));
    package.edit("src/main.rs", "type Kernel = Send<S, Ready, KernelLoop>;", mistake);
    let (success, _, said) = package.run("build");
    assert!(!success);
    let (said, diagnostic) = (trimmed(&said), trimmed(diagnostic));
    says(&said, &diagnostic);
}

#[test]
fn the_first_example_of_the_readme_runs() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let section = section(&readme, "Start here");
    let (section, behind) = section.rsplit_once("```rust,ignore\n").unwrap();
    let (package, files) = example("readme-start", section);
    assert_eq!(files, ["Cargo.toml", "protocols/jobs.scr", "build.rs", "src/main.rs"]);
    prints(&package, section);

    // A session of one's own, beside the generated one.
    let (own, _) = behind.split_once("```").unwrap();
    package.edit("src/main.rs", "#[tokio::main", &format!("{own}\n#[tokio::main"));
    let (success, _, said) = package.run("check");
    assert!(success, "{said}");
    let (right, wrong) = (
        "Send<Worker, Submit, Receive<Worker, Done, ",
        "Receive<Worker, Done, Send<Worker, Submit, ",
    );
    package.edit("src/main.rs", right, wrong);
    let (success, _, said) = package.run("check");
    assert!(!success);
    says(&said, "`OneJob` receives `Done` from `Worker` before it has chosen `Submit` or `Stop`");
}

/// The example top-down, with nothing but what the README says.
pub(super) fn top_down(name: &str) -> Package {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let complete = section(&readme, "A complete example");
    let top_down = section(&readme, "Top-down: let the code be generated");
    let [(_, script), (_, included), (_, machine)] = &blocks(&top_down)[..] else {
        panic!("{top_down}")
    };
    let (package, _) = example(name, &complete);
    package.write("build.rs", script);
    package.write("protocols/double_buffering.k.dot", machine);
    let source = package.read("src/main.rs");
    let (_, rest) = source.split_once("// Every role has a channel").unwrap();
    let (_, processes) = rest.split_once("// The processes.").unwrap();
    let processes = [("Source", "S"), ("Kernel", "K"), ("Sink", "T")]
        .iter()
        .fold(processes.to_owned(), |text, (name, role)| {
            text.replace(&format!("{name}<'_>"), &format!("{role}Session<'_>"))
        });
    package.write(
        "src/main.rs",
        &format!(
            "use std::convert::Infallible;\nuse rumpsteak_runtime::{{Result, try_run}};\n\
             use tokio::sync::oneshot;\n\n{included}\n//{processes}"
        ),
    );
    package
}

/// The other workflows of the README, from the same example and with nothing but what the README
/// says.
#[test]
fn the_example_runs_in_the_other_workflows() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let complete = section(&readme, "A complete example");

    let package = top_down("readme-top-down");
    prints(&package, &complete);

    let bottom_up = section(&readme, "Bottom-up: without a protocol");
    let script = "rumpsteak_build::configure().verify()";
    assert!(bottom_up.contains(&format!("`{script}`")));
    let (package, _) = example("readme-bottom-up", &complete);
    package.remove("protocols/double_buffering.scr");
    package.write(
        "build.rs",
        &format!("fn main() -> Result<(), rumpsteak_build::Report> {{ {script}.map(drop) }}\n"),
    );
    let source = package.read("src/main.rs");
    let lines: Vec<&str> = source.lines().filter(|line| !line.starts_with("#[protocol(")).collect();
    let source = lines.join("\n").replace("#[derive(Roles)]", "#[derive(Roles)]\n#[closed_system]");
    package.write("src/main.rs", &source);
    prints(&package, &complete);
}
